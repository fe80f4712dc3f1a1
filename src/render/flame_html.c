#include "render/flame_html.h"
#include "base/base64.h"
#include "base/text.h"
#include "formats/gzip_stream.h"
#include "render/flame_data.h"

#ifdef HAVE_VIEWER

/* web/flame, put into the program by scripts/embed. */
extern const char viewer_body[], viewer_body_end[];
extern const char viewer_style[], viewer_style_end[], viewer_style_sha256[];
extern const char viewer_script[], viewer_script_end[], viewer_script_sha256[];

/* How the page opens, in the words of its own address. What is as usual is not said. */
static void put_view(const struct flame_page *page, struct buf *out)
{
    static const char *const orders[CALL_ORDER_COUNT] = {[CALL_BY_WEIGHT] = "", [CALL_BY_NAME] = "&order=name", [CALL_BY_TIME] = "&order=time"};
    static const char *const roots[ROOT_BY_COUNT] = {[ROOT_BY_NONE] = "", [ROOT_BY_THREAD] = "&roots=thread", [ROOT_BY_PROCESS] = "&roots=process"};
    static const char *const themes[FLAME_THEME_COUNT] = {"", "&theme=light", "&theme=dark"};
    buf_printf(out, "colours=%s", flame_scheme_names[page->scheme]);
    buf_puts(out, orders[page->order]);
    buf_puts(out, themes[page->theme]);
    buf_puts(out, roots[page->by] ? roots[page->by] : ""); /* other roots are in the stacks themselves */
    buf_puts(out, page->merge_recursion ? "&recursion=1" : "");
    buf_puts(out, page->inverted ? "&invert=1" : "");
    buf_puts(out, page->icicle ? "&up=0" : "");
    if (!page->difference)
        return;
    buf_puts(out, page->layout == FLAME_AFTER ? "&layout=after" : "");
    buf_puts(out, page->difference->by == DIFFERENCE_BY_VALUE ? "&by=value" : "");
    buf_puts(out, page->diff_of == FLAME_DIFF_SELF ? "&of=self" : page->diff_of == FLAME_DIFF_TOTAL ? "&of=total" : "");
    buf_printf(out, "&palette=%s", flame_diff_colour_names[page->diff_colours]);
}

/* The page itself knows threads and processes only; other roots are in the stacks. */
static struct flame_side side_of(const struct flame_page *page, const struct flame_source *s)
{
    bool has_roots = page->by >= ROOT_BY_PHASE;
    return (struct flame_side){.label = s->path, .p = has_roots ? s->drawn : s->p, .set = has_roots ? s->drawn_set : s->set, .measure = s->measure};
}

static bool put_data(const struct flame_page *page, const char *title, struct sink *out, struct err *e)
{
    own(buf) struct buf view;
    buf_init(&view, 1000);
    put_view(page, &view);
    struct flame_input input = {.title = title, .before = side_of(page, page->difference ? &page->before : &page->source), .view = view.data};
    if (page->difference)
        input.after = side_of(page, &page->source);
    struct base64 letters;
    struct sink packed, plain;
    own(gzip) struct gzip z;
    base64_to(&letters, &packed, out);
    return gzip_to(&z, &plain, &packed, e) && flame_data_write(&input, &plain, e) && gzip_end(&z, &plain, e) &&
           base64_end(&letters, &packed, e);
}

static void title_of(const struct flame_page *page, struct buf *out)
{
    struct sink to;
    sink_to_buf(&to, out);
    if (page->title) {
        text_safe(&to, view_of(page->title), 0);
    } else if (page->difference) {
        text_safe(&to, view_last_part(view_of(page->before.path)), 0);
        sink_puts(&to, " → ");
        text_safe(&to, view_last_part(view_of(page->source.path)), 0);
    } else {
        text_safe(&to, view_last_part(view_of(page->source.path)), 0);
    }
    if (!sink_flush(&to, NULL))
        buf_clear(out);
}

bool flame_html_write(const struct flame_page *page, struct sink *out, struct err *e)
{
    own(buf) struct buf title;
    buf_init(&title, 16384);
    title_of(page, &title);
    sink_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    sink_printf(out,
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
                "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
                viewer_script_sha256, viewer_style_sha256);
    sink_puts(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    text_markup(out, buf_view(&title), 0);
    sink_puts(out, "</title>\n<style>");
    sink_add(out, view_between(viewer_style, viewer_style_end));
    sink_puts(out, "</style>\n</head>\n");
    sink_add(out, view_between(viewer_body, viewer_body_end));
    sink_puts(out, "<script type=\"application/octet-stream\" id=\"data\">");
    if (!put_data(page, title.data, out, e))
        return false;
    sink_puts(out, "</script>\n<script>");
    sink_add(out, view_between(viewer_script, viewer_script_end));
    sink_puts(out, "</script>\n</body>\n</html>\n");
    return sink_flush(out, e);
}

#else

bool flame_html_write(const struct flame_page *page, struct sink *out, struct err *e)
{
    (void)page;
    (void)out;
    err_set(e, ERR_UNSUPPORTED, "this build has no flame viewer");
    return err_hint(e, "install esbuild and build again, or ask for --format svg");
}

#endif
