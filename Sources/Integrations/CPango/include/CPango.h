#ifndef CPANGO_H
#define CPANGO_H

// Turns lines of text into outlines, with Pango. The functions are defined only if the trait Vips is enabled.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The fonts of a typesetter. Only one thread at a time may use it.
typedef struct CPangoFonts CPangoFonts;

typedef enum __attribute__((enum_extensibility(closed))) {
    CPangoSegmentGlyph = 0,
    CPangoSegmentMove = 1,
    CPangoSegmentLine = 2,
    CPangoSegmentQuadratic = 3,
    CPangoSegmentCubic = 4,
} CPangoSegmentKind;

/// A segment of a contour, or the beginning of a glyph. Distances count from the top left of the line. The control points come
/// before the end.
typedef struct {
    CPangoSegmentKind kind;
    double control1_x, control1_y, control2_x, control2_y, x, y;
} CPangoSegment;

typedef enum __attribute__((enum_extensibility(closed))) {
    CPangoResultDone = 0,
    /// The offsets in `missing` are those of characters that no font can draw.
    CPangoResultMissing = 1,
    /// `is_cancelled` returned true.
    CPangoResultCancelled = 2,
    /// Pango failed, or there are more segments than allowed.
    CPangoResultFailed = 3,
} CPangoResult;

typedef struct {
    double width;
    double height;
    CPangoSegment *segments;
    size_t segment_count;
    /// The offsets of the first bytes of characters, from left to right.
    size_t *missing;
    size_t missing_count;
} CPangoOutline;

/// Returns the fonts for a font description, such as "Sans Bold", and a language, such as "ko". Returns a null pointer if no font
/// is installed. Both texts end with a zero byte.
CPangoFonts *cpango_open(const char *description, const char *language);

/// Releases the fonts.
void cpango_close(CPangoFonts *fonts);

/// Typesets a line of text in UTF-8, with up to a number of segments, and writes the outline. Pass the outline to
/// `cpango_release` afterwards, whatever the result. Calls `is_cancelled` between glyphs, and stops if it returns true.
CPangoResult cpango_typeset(
    CPangoFonts *fonts, const char *text, size_t count, size_t maximum_segments, bool (*is_cancelled)(void),
    CPangoOutline *outline);

/// Frees the arrays of an outline.
void cpango_release(CPangoOutline *outline);

#endif
