#include "CPango.h"

#ifdef VIPS

#if !__has_include(<pango/pangoft2.h>)
#error "The trait Vips needs Pango: apt-get install libvips-dev, or brew install vips pango"
#endif

#include <fontconfig/fontconfig.h>
#include <hb.h>
#include <pango/pangoft2.h>

/// The size of the font while text is typeset, in pixels per em. Outlines have no hints, so it affects only the rounding. With
/// it, a line of the longest text fits into Pango's 32-bit numbers, even in the widest glyphs.
static const int font_size = 256;

struct CPangoFonts {
    PangoFontMap *map;
    PangoFontDescription *description;
    PangoLanguage *language;
    hb_draw_funcs_t *draw;
};

/// An outline that grows.
typedef struct {
    GArray *segments;
    GArray *missing;
    size_t maximum_segments;
    bool is_full;
    /// The origin of the current glyph.
    double x, y;
} Pen;

static void add(Pen *pen, CPangoSegment segment) {
    pen->is_full = pen->is_full || pen->segments->len >= pen->maximum_segments;
    if (!pen->is_full) g_array_append_val(pen->segments, segment);
}

// HarfBuzz counts from the bottom to the top.
static double right(Pen *pen, float x) { return (pen->x + x) / PANGO_SCALE; }
static double down(Pen *pen, float y) { return (pen->y - y) / PANGO_SCALE; }

static void move_to(hb_draw_funcs_t *draw, void *pen, hb_draw_state_t *state, float x, float y, void *data) {
    add(pen, (CPangoSegment) {.kind = CPangoSegmentMove, .x = right(pen, x), .y = down(pen, y)});
}

static void line_to(hb_draw_funcs_t *draw, void *pen, hb_draw_state_t *state, float x, float y, void *data) {
    add(pen, (CPangoSegment) {.kind = CPangoSegmentLine, .x = right(pen, x), .y = down(pen, y)});
}

static void quadratic_to(
    hb_draw_funcs_t *draw, void *pen, hb_draw_state_t *state, float control_x, float control_y, float x, float y,
    void *data) {
    add(pen, (CPangoSegment) {
        .kind = CPangoSegmentQuadratic, .control1_x = right(pen, control_x), .control1_y = down(pen, control_y),
        .x = right(pen, x), .y = down(pen, y),
    });
}

static void cubic_to(
    hb_draw_funcs_t *draw, void *pen, hb_draw_state_t *state, float control1_x, float control1_y, float control2_x,
    float control2_y, float x, float y, void *data) {
    add(pen, (CPangoSegment) {
        .kind = CPangoSegmentCubic, .control1_x = right(pen, control1_x), .control1_y = down(pen, control1_y),
        .control2_x = right(pen, control2_x), .control2_y = down(pen, control2_y), .x = right(pen, x), .y = down(pen, y),
    });
}

CPangoFonts *cpango_open(const char *description, const char *language) {
    // Without a font, Pango ends the process.
    FcFontSet *installed = FcInit() ? FcConfigGetFonts(NULL, FcSetSystem) : NULL;
    if (!installed || installed->nfont == 0) return NULL;
    CPangoFonts *fonts = g_new0(CPangoFonts, 1);
    fonts->map = pango_ft2_font_map_new();
    fonts->description = pango_font_description_from_string(description);
    pango_font_description_set_absolute_size(fonts->description, font_size * PANGO_SCALE);
    fonts->language = pango_language_from_string(language);
    fonts->draw = hb_draw_funcs_create();
    hb_draw_funcs_set_move_to_func(fonts->draw, move_to, NULL, NULL);
    hb_draw_funcs_set_line_to_func(fonts->draw, line_to, NULL, NULL);
    hb_draw_funcs_set_quadratic_to_func(fonts->draw, quadratic_to, NULL, NULL);
    hb_draw_funcs_set_cubic_to_func(fonts->draw, cubic_to, NULL, NULL);
    return fonts;
}

void cpango_close(CPangoFonts *fonts) {
    if (!fonts) return;
    hb_draw_funcs_destroy(fonts->draw);
    pango_font_description_free(fonts->description);
    g_object_unref(fonts->map);
    g_free(fonts);
}

static void draw(hb_font_t *font, hb_codepoint_t glyph, hb_draw_funcs_t *draw, Pen *pen) {
#if HB_VERSION_ATLEAST(7, 0, 0)
    hb_font_draw_glyph(font, glyph, draw, pen);
#else
    hb_font_get_glyph_shape(font, glyph, draw, pen);
#endif
}

/// Returns whether a text has a character that must be visible.
static bool is_visible(const char *text, size_t count) {
    for (const char *next = text; next < text + count; next = g_utf8_next_char(next))
        if (g_unichar_isgraph(g_utf8_get_char(next))) return true;
    return false;
}

/// Returns where a cluster of a run ends in the text. Clusters run from left to right or from right to left.
static int cluster_end(PangoGlyphItem *run, int start) {
    int end = run->item->offset + run->item->length;
    for (int i = 0; i < run->glyphs->num_glyphs; i++) {
        const int other = run->item->offset + run->glyphs->log_clusters[i];
        if (other > start && other < end) end = other;
    }
    return end;
}

/// Adds the outlines of a run, whose left end is at a distance, and returns the distance of its right end.
static int add_run(CPangoFonts *fonts, PangoGlyphItem *run, int x, const char *text, bool (*is_cancelled)(void), Pen *pen) {
    hb_font_t *font = pango_font_get_hb_font(run->item->analysis.font);
    PangoGlyphString *glyphs = run->glyphs;
    const int offset = run->item->offset;
    for (int first = 0, next; first < glyphs->num_glyphs && !pen->is_full && !is_cancelled(); first = next) {
        // The glyphs of a cluster, from which no character can be separated.
        const int start = offset + glyphs->log_clusters[first];
        bool is_unknown = false;
        const guint count = pen->segments->len;
        for (next = first; next < glyphs->num_glyphs && offset + glyphs->log_clusters[next] == start; next++) {
            const PangoGlyphInfo *info = &glyphs->glyphs[next];
            is_unknown = is_unknown || (info->glyph & PANGO_GLYPH_UNKNOWN_FLAG);
            if (info->glyph != PANGO_GLYPH_EMPTY && !(info->glyph & PANGO_GLYPH_UNKNOWN_FLAG)) {
                add(pen, (CPangoSegment) {.kind = CPangoSegmentGlyph});
                pen->x = x + info->geometry.x_offset;
                pen->y = info->geometry.y_offset;
                draw(font, info->glyph, fonts->draw, pen);
            }
            x += info->geometry.width;
        }
        // Fonts with images or colored layers in place of outlines draw nothing.
        const bool is_empty = !pen->is_full && pen->segments->len <= count + (guint) (next - first);
        if (is_unknown || (is_empty && is_visible(text + start, (size_t) (cluster_end(run, start) - start)))) {
            const size_t position = (size_t) start;
            g_array_append_val(pen->missing, position);
        }
    }
    return x;
}

CPangoResult cpango_typeset(
    CPangoFonts *fonts, const char *text, size_t count, size_t maximum_segments, bool (*is_cancelled)(void),
    CPangoOutline *outline) {
    *outline = (CPangoOutline) {.width = 0};
    if (count > G_MAXINT) return CPangoResultFailed;
    PangoContext *context = pango_font_map_create_context(fonts->map);
    pango_context_set_font_description(context, fonts->description);
    pango_context_set_language(context, fonts->language);
    pango_context_set_round_glyph_positions(context, FALSE);
    PangoLayout *layout = pango_layout_new(context);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    // Not as markup.
    pango_layout_set_text(layout, text, (int) count);
    PangoLayoutLine *line = pango_layout_get_line_readonly(layout, 0);
    CPangoResult result = CPangoResultFailed;
    if (line && pango_layout_get_line_count(layout) == 1 && !is_cancelled()) {
        PangoRectangle logical;
        pango_layout_line_get_extents(line, NULL, &logical);
        Pen pen = {
            .segments = g_array_new(FALSE, FALSE, sizeof(CPangoSegment)),
            .missing = g_array_new(FALSE, FALSE, sizeof(size_t)),
            .maximum_segments = maximum_segments,
        };
        int x = 0;
        for (GSList *run = line->runs; run && !pen.is_full && !is_cancelled(); run = run->next)
            x = add_run(fonts, run->data, x, pango_layout_get_text(layout), is_cancelled, &pen);
        outline->width = (double) x / PANGO_SCALE;
        outline->height = (double) logical.height / PANGO_SCALE;
        outline->segment_count = pen.segments->len;
        outline->segments = (CPangoSegment *) (void *) g_array_free(pen.segments, FALSE);
        outline->missing_count = pen.missing->len;
        outline->missing = (size_t *) (void *) g_array_free(pen.missing, FALSE);
        // From the baseline to the top of the line.
        for (size_t i = 0; i < outline->segment_count; i++) {
            outline->segments[i].y -= (double) logical.y / PANGO_SCALE;
            outline->segments[i].control1_y -= (double) logical.y / PANGO_SCALE;
            outline->segments[i].control2_y -= (double) logical.y / PANGO_SCALE;
        }
        result = is_cancelled() ? CPangoResultCancelled
            : pen.is_full ? CPangoResultFailed
            : outline->missing_count > 0 ? CPangoResultMissing
                                         : CPangoResultDone;
    } else if (is_cancelled()) {
        result = CPangoResultCancelled;
    }
    g_object_unref(layout);
    g_object_unref(context);
    return result;
}

void cpango_release(CPangoOutline *outline) {
    g_free(outline->segments);
    g_free(outline->missing);
    *outline = (CPangoOutline) {.width = 0};
}

#endif
