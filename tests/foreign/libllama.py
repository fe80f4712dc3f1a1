"""llama.cpp's own library, called from Python: what it makes of a GGUF file, and how fast.

The libraries are those of the npm package @node-llama-cpp/linux-x64, found through LLAMA_MODULES as in llama.py.
Structs are passed by value; of the larger ones only the beginning is known here. They travel in memory, so room
that is too large does no harm: whoever is called looks only at what it knows.
"""
import ctypes
import functools
import glob
import os

ROOM = 1024
F32, F16 = 0, 1


class ModelParams(ctypes.Structure):
    _fields_ = [("room", ctypes.c_uint64 * (ROOM // 8))]


class ContextParams(ctypes.Structure):
    _fields_ = [("n_ctx", ctypes.c_uint32), ("n_batch", ctypes.c_uint32), ("n_ubatch", ctypes.c_uint32),
                ("rest", ctypes.c_uint8 * (ROOM - 12))]


class Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32), ("token", ctypes.c_void_p), ("others", ctypes.c_void_p * 5)]


def folder():
    """Where the libraries are; None: nowhere."""
    modules = os.environ.get("LLAMA_MODULES")
    found = glob.glob(os.path.join(modules, "@node-llama-cpp/linux-x64/bins/linux-x64/libllama.*so")) if modules else []
    return os.path.dirname(found[0]) if found else None


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def say_nothing(_level, _text, _self):
    pass


def whole_attention(params):
    """Where these settings are depends on the version; if what is there is not the usual, this is another one."""
    flash, keys, values = 52, 104, 108
    raw = (ctypes.c_int32 * (ROOM // 4)).from_buffer(params)
    assert (raw[flash // 4], raw[keys // 4], raw[values // 4]) == (-1, F16, F16), "a version of llama.cpp whose settings we do not know"
    raw[flash // 4], raw[keys // 4], raw[values // 4] = 0, F32, F32


@functools.cache
def libraries():
    place = folder()
    load = lambda name: ctypes.CDLL(glob.glob(os.path.join(place, name))[0], mode=ctypes.RTLD_GLOBAL)
    load("libggml-base.so")
    ggml, llama = load("libggml.*so"), load("libllama.*so")
    for set_log in ggml.ggml_log_set, llama.llama_log_set:
        set_log.argtypes = [type(say_nothing), ctypes.c_void_p]
        set_log(say_nothing, None)
    ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
    ggml.ggml_backend_load_all_from_path(place.encode())
    return llama


class Llama:
    """`whole` keeps keys and values as f32 and computes attention step by step; llama.cpp's usual is f16, all in one."""

    def __init__(self, path, context=512, threads=1, whole=False):
        self.lib = lib = libraries()
        pointer = ctypes.c_void_p
        lib.llama_backend_init()
        for name, result, arguments in [
                ("llama_model_default_params", ModelParams, []), ("llama_context_default_params", ContextParams, []),
                ("llama_model_load_from_file", pointer, [ctypes.c_char_p, ModelParams]),
                ("llama_init_from_model", pointer, [pointer, ContextParams]),
                ("llama_set_n_threads", None, [pointer, ctypes.c_int32, ctypes.c_int32]),
                ("llama_model_get_vocab", pointer, [pointer]), ("llama_vocab_n_tokens", ctypes.c_int32, [pointer]),
                ("llama_batch_get_one", Batch, [pointer, ctypes.c_int32]), ("llama_decode", ctypes.c_int32, [pointer, Batch]),
                ("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), [pointer, ctypes.c_int32]),
                ("llama_get_memory", pointer, [pointer]), ("llama_memory_clear", None, [pointer, ctypes.c_bool]),
                ("llama_tokenize", ctypes.c_int32, [pointer, ctypes.c_char_p, ctypes.c_int32, pointer, ctypes.c_int32, ctypes.c_bool, ctypes.c_bool])]:
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
        self.model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
        assert self.model, f"llama.cpp does not load {path}"
        params = lib.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = context
        if whole:
            whole_attention(params)
        self.context = lib.llama_init_from_model(self.model, params)
        assert self.context, "llama.cpp makes no context"
        lib.llama_set_n_threads(self.context, threads, threads)
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.n = lib.llama_vocab_n_tokens(self.vocab)

    def tokens(self, raw):
        room = (ctypes.c_int32 * (2 * len(raw) + 16))()
        n = self.lib.llama_tokenize(self.vocab, raw, len(raw), room, len(room), False, False)
        return list(room[:n])

    def clear(self):
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)

    def feed(self, tokens):
        room = (ctypes.c_int32 * len(tokens))(*tokens)
        assert self.lib.llama_decode(self.context, self.lib.llama_batch_get_one(room, len(tokens))) == 0

    def logits(self):
        return self.lib.llama_get_logits_ith(self.context, -1)[:self.n]
