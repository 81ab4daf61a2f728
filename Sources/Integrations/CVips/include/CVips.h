#ifndef CVIPS_H
#define CVIPS_H

// Wrappers with fixed arguments for the libvips functions that Swift needs. Most functions of libvips take variable arguments,
// which Swift cannot pass. The wrappers are defined only if the trait Vips is enabled.
//
// All except `cvips_start` can be called from several threads at once. None keeps a pointer after it returns.

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
    /// The Exif orientation, from 1 to 8.
    int32_t orientation;
    /// The number of bytes per pixel before conversion.
    int32_t pixel_bytes;
    /// Whether the rows are stored in several passes or scans.
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

/// Starts libvips with a number of threads for each encoding, and returns whether it succeeded. Call it once per process.
bool cvips_start(int32_t threads);

/// Reads the header of encoded bytes, and returns whether the image can be decoded. If the format is known, it is set even on
/// failure.
bool cvips_read_header(const uint8_t *bytes, size_t count, CVipsHeader *header);

/// Decodes an image into `width * height * 4` bytes, rows of red, green, blue and alpha, and returns whether it succeeded. On
/// failure, some of the bytes may have been written. Calls `is_cancelled` between rows, and stops if it returns true.
bool cvips_decode(
    const uint8_t *bytes, size_t count, CVipsDecoding decoding,
    uint8_t *pixels, int32_t width, int32_t height, bool (*is_cancelled)(void));

/// Encodes an image of `width * height * 4` bytes, and returns whether it succeeded. Pass the result to `cvips_free`.
bool cvips_encode(
    const uint8_t *pixels, int32_t width, int32_t height, CVipsEncoding encoding,
    bool (*is_cancelled)(void), uint8_t **bytes, size_t *count);

/// Frees the result of `cvips_encode`.
void cvips_free(uint8_t *bytes);

/// Discards the failure messages of all threads. libvips collects them in one buffer for the process.
void cvips_discard_notes(void);

/// Releases the resources that libvips holds for the calling thread.
void cvips_leave_thread(void);

#endif
