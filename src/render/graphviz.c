#include "render/graphviz.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define LARGEST_PICTURE ((size_t)256 << 20)
#define LARGEST_COMPLAINT ((size_t)4 << 10)

/* How the drawing process ends when it is not done. */
enum { EXIT_NO_LIBRARY = 70, EXIT_NO_GRAPH, EXIT_NO_LAYOUT, EXIT_NO_PICTURE };

/* The drawing process. Its standard output is the picture, its standard error a complaint. */

static void *open_first(const char *const *names)
{
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    return library;
}

/* Of the library's many functions, the four that are needed; their types have been the same for many years. */
struct graphviz {
    void *(*context)(void);
    void *(*parse)(const char *dot);
    int (*layout)(void *context, void *graph, const char *engine);
    int (*render)(void *context, void *graph, const char *format, FILE *to);
};

static bool load(struct graphviz *g)
{
    static const char *const parser_names[] = {"libcgraph.so.6", "libcgraph.so.7", "libcgraph.so.8", "libcgraph.so", NULL};
    static const char *const layout_names[] = {"libgvc.so.6", "libgvc.so.7", "libgvc.so", NULL};
    void *parser = open_first(parser_names), *layout = open_first(layout_names);
    if (!parser || !layout)
        return false;
    *(void **)&g->parse = dlsym(parser, "agmemread");
    *(void **)&g->context = dlsym(layout, "gvContext");
    *(void **)&g->layout = dlsym(layout, "gvLayout");
    *(void **)&g->render = dlsym(layout, "gvRender");
    return g->parse && g->context && g->layout && g->render;
}

static int draw_here(const char *dot, const char *format)
{
    struct graphviz g = {0};
    if (!load(&g))
        return EXIT_NO_LIBRARY;
    void *graph = g.parse(dot), *context = graph ? g.context() : NULL;
    if (!graph || !context)
        return EXIT_NO_GRAPH;
    if (g.layout(context, graph, "dot") != 0)
        return EXIT_NO_LAYOUT;
    if (g.render(context, graph, format, stdout) != 0 || fflush(stdout) != 0)
        return EXIT_NO_PICTURE;
    return 0;
}

static _Noreturn void draw_and_exit(const char *dot, const char *format, int picture, int complaint)
{
    struct rlimit cpu = {.rlim_cur = GRAPHVIZ_CPU_S, .rlim_max = GRAPHVIZ_CPU_S + 5};
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CPU, &cpu);
    dup2(picture, STDOUT_FILENO);
    dup2(complaint, STDERR_FILENO);
    _exit(draw_here(dot, format));
}

/* Our side. */

struct drawing {
    pid_t pid;
    int picture, complaint; /* ends that we read from */
    struct buf picture_bytes, complaint_bytes;
};

static void drawing_done(struct drawing *d)
{
    close(d->picture);
    close(d->complaint);
    buf_done(&d->picture_bytes);
    buf_done(&d->complaint_bytes);
}
DEFINE_OWN_IN_PLACE(drawing, struct drawing)

static bool start(struct drawing *d, const char *dot, const char *format, struct err *e)
{
    int picture[2], complaint[2];
    *d = (struct drawing){.pid = -1, .picture = -1, .complaint = -1};
    buf_init(&d->picture_bytes, LARGEST_PICTURE);
    buf_init(&d->complaint_bytes, LARGEST_COMPLAINT);
    if (pipe2(picture, O_CLOEXEC) < 0)
        return err_os(e, "drawing");
    d->picture = picture[0];
    if (pipe2(complaint, O_CLOEXEC) < 0) {
        close(picture[1]);
        return err_os(e, "drawing");
    }
    d->complaint = complaint[0];
    fflush(NULL);
    d->pid = fork();
    if (d->pid == 0)
        draw_and_exit(dot, format, picture[1], complaint[1]);
    close(picture[1]);
    close(complaint[1]);
    return d->pid > 0 || err_os(e, "drawing");
}

/* False: this pipe has ended. What does not fit is read all the same, so that the other side goes on. */
static bool take_some(int fd, struct buf *into)
{
    char bytes[16384];
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0)
        buf_add(into, bytes, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static void take_all(struct drawing *d)
{
    struct pollfd open[2] = {{.fd = d->picture, .events = POLLIN}, {.fd = d->complaint, .events = POLLIN}};
    while (open[0].fd >= 0 || open[1].fd >= 0) {
        if (poll(open, 2, -1) < 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (open[i].fd >= 0 && open[i].revents && !take_some(open[i].fd, i ? &d->complaint_bytes : &d->picture_bytes))
                open[i].fd = -1;
    }
}

/* The library's first line about it, where it had one. */
static bool say_why(const struct drawing *d, const char *what, struct err *e)
{
    own(buf) struct buf line;
    struct sink s;
    size_t n = strcspn(d->complaint_bytes.data, "\n");
    buf_init(&line, 600);
    sink_to_buf(&s, &line);
    text_safe(&s, (struct view){d->complaint_bytes.data, n}, 120);
    if (!sink_flush(&s, e) || !line.len)
        return err_set(e, ERR_UNSUPPORTED, "Graphviz %s", what);
    return err_set(e, ERR_UNSUPPORTED, "Graphviz %s: %s", what, line.data);
}

static bool judge(const struct drawing *d, int status, struct err *e)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return err_set(e, ERR_LIMIT, "Graphviz needed more than %d s for the layout", GRAPHVIZ_CPU_S);
    if (WIFSIGNALED(status))
        return say_why(d, WTERMSIG(status) == SIGKILL ? "was killed" : "crashed", e);
    switch (WEXITSTATUS(status)) {
    case 0: break;
    case EXIT_NO_LIBRARY: return err_set(e, ERR_UNSUPPORTED, "Graphviz's library is not installed (libgvc6)");
    case EXIT_NO_GRAPH:   return say_why(d, "did not understand the graph", e);
    case EXIT_NO_LAYOUT:  return say_why(d, "could not lay out the graph", e);
    default:              return say_why(d, "could not draw the graph", e);
    }
    if (d->picture_bytes.full)
        return err_set(e, ERR_LIMIT, "a picture of more than %zu MiB", LARGEST_PICTURE >> 20);
    return d->picture_bytes.len || say_why(d, "drew nothing", e);
}

bool graphviz_draw(struct view dot, const char *format, struct sink *out, struct err *e)
{
    own(drawing) struct drawing d;
    if (!start(&d, dot.at, format, e))
        return false;
    take_all(&d);
    int status = 0;
    while (waitpid(d.pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!judge(&d, status, e))
        return false;
    sink_add(out, buf_view(&d.picture_bytes));
    return true;
}
