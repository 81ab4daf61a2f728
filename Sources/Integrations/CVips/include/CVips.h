#ifndef CVIPS_H
#define CVIPS_H

// The functions of libvips that are needed, with fixed arguments: most of its own take variable ones. There is nothing behind
// them unless the trait Vips is enabled.
//
// All of them but `cvips_start` can be called from many threads at once. None keeps a pointer that it is given.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum __attribute__((enum_extensibility(closed))) {
    CVipsFormatUnknown = 0,
    CVipsFormatJPEG = 1,
    CVipsFormatPNG = 2,
    CVipsFormatWebP = 3,
    CVipsFormatGIF = 4,
    CVipsFormatAVIF = 5,
    CVipsFormatHEIF = 6,
    CVipsFormatTIFF = 7,
} CVipsFormat;

typedef struct {
    CVipsFormat format;
    int32_t width;
    int32_t height;
    /// From 1 to 8, as Exif has it.
    int32_t orientation;
    /// How many bytes a pixel takes before it is converted.
    int32_t pixel_bytes;
    /// Whether the rows come more than once.
    bool is_interlaced;
} CVipsHeader;

typedef struct {
    CVipsFormat format;
    int32_t reduction;
    bool allows_truncation;
} CVipsDecoding;

typedef struct {
    CVipsFormat format;
    int32_t quality;
    int32_t effort;
    int32_t orientation;
    bool is_opaque;
    bool is_subsampled;
} CVipsEncoding;

/// Starts libvips, once for a process, with a number of threads for each encoding. Whether it did.
bool cvips_start(int32_t threads);

/// What the beginning of encoded bytes says. Whether they can be read; the format is set if it is known, even if they cannot.
bool cvips_read_header(const uint8_t *bytes, size_t count, CVipsHeader *header);

/// Writes `width * height * 4` bytes: rows of red, green, blue and alpha. Whether it did; on failure some may be written.
/// Between rows it asks whether to give up.
bool cvips_decode(
    const uint8_t *bytes, size_t count, CVipsDecoding decoding,
    uint8_t *pixels, int32_t width, int32_t height, bool (*is_cancelled)(void));

/// Encodes `width * height * 4` bytes. Whether it did; the result is to be given to `cvips_free` then.
bool cvips_encode(
    const uint8_t *pixels, int32_t width, int32_t height, CVipsEncoding encoding,
    bool (*is_cancelled)(void), uint8_t **bytes, size_t *count);

void cvips_free(uint8_t *bytes);

/// Discards what libvips has noted of failures so far, in any thread: the process has one buffer for these notes.
void cvips_discard_notes(void);

/// Gives back what libvips keeps for the calling thread.
void cvips_leave_thread(void);

#endif
