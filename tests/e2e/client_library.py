#!/usr/bin/env python3
"""Install into an empty folder, then compile and run a program against libinferom through pkg-config.

    client_library.py BUILD_DIR PREFIX CC...

Both ways a program may link it: the shared library, and the static one. What
the shared library shows to others is inferom_*, the names that NVTX and ITT ask for, and nothing else.
"""
import glob
import os
import subprocess
import sys
import tempfile

build, prefix, cc = sys.argv[1], sys.argv[2], sys.argv[3:]

PROGRAM = r"""
#include <inferom.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    puts(inferom_version());
    return strcmp(inferom_version(), INFEROM_VERSION) || INFEROM_VERSION_NUMBER < 100;
}
"""


def output(*command, **more):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def main():
    with tempfile.TemporaryDirectory() as root:
        output("meson", "install", "-C", build, "--no-rebuild", env=dict(os.environ, DESTDIR=root))
        pc, = glob.glob(root + prefix + "/**/inferom.pc", recursive=True)
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(pc), PKG_CONFIG_SYSROOT_DIR=root)
        flags = output("pkg-config", "--cflags", "--libs", "inferom", env=env).split()
        version = output("pkg-config", "--modversion", "inferom", env=env)
        libdir = os.path.dirname(os.path.dirname(pc))

        source = os.path.join(root, "app.c")
        with open(source, "w") as f:
            f.write(PROGRAM)
        app = os.path.join(root, "app")
        for more in [], [f"-L{libdir}", "-Wl,-Bstatic", "-linferom", "-Wl,-Bdynamic"]:
            output(*cc, "-Wall", "-Werror", source, "-o", app, *(flags if not more else flags[:1] + more))
            assert output(app, env=dict(os.environ, LD_LIBRARY_PATH="" if more else libdir)) == version

        shared = os.path.join(libdir, "libinferom.so")
        names = [line.split()[-1] for line in output("nm", "-D", "--defined-only", shared).splitlines()]
        strangers = [n for n in names if not n.startswith("inferom_") and n not in ("InitializeInjectionNvtx2", "__itt_api_init")]
        assert not strangers, strangers

        share = root + prefix + "/share/"
        for made in ("man/man1/inferom.1", "bash-completion/completions/inferom.bash", "zsh/site-functions/_inferom",
                     "fish/vendor_completions.d/inferom.fish"):
            assert os.path.getsize(share + made) > 500, made


main()
