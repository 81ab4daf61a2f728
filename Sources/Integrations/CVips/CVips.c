#include "CVips.h"

#ifdef VIPS

#if !__has_include(<vips/vips.h>)
#error "The trait Vips needs libvips 8.13 or later: apt-get install libvips-dev, or brew install vips"
#endif

#include <string.h>
#include <vips/vips.h>

#if VIPS_MAJOR_VERSION == 8 && (VIPS_MINOR_VERSION < 15 || (VIPS_MINOR_VERSION == 15 && VIPS_MICRO_VERSION < 4))
/// Replaces the function of libvips, in which only idle threads wait. Before version 8.15.4, a thread that has been idle for 15
/// seconds ends even if it has just been given work, and the encoding that needs this work waits forever (libvips#4137). With
/// this definition, idle threads wait until they get work, as before version 8.14.
int vips_semaphore_down_timeout(VipsSemaphore *semaphore, gint64 timeout) { return vips_semaphore_down(semaphore); }
#endif

static void ignore(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {}

bool cvips_start(int32_t threads) {
    // Ignore warnings. They describe the content of images, and libvips would write them to standard error.
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, ignore, NULL);
    if (vips_init("inward")) return false;
    vips_concurrency_set(threads);
    // Do not cache operations. None is repeated, and their input buffers do not outlive the call.
    vips_cache_set_max(0);
    vips_block_untrusted_set(TRUE);
    vips_operation_block_set("VipsForeignLoad", TRUE);
    const char *loaders[] = {
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp", "VipsForeignLoadNsgif",
        "VipsForeignLoadHeif", "VipsForeignLoadTiff",
    };
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) vips_operation_block_set(loaders[i], FALSE);
    return true;
}

static CVipsFormat format_of_loader(const char *loader) {
    static const struct {
        const char *prefix;
        CVipsFormat format;
    } loaders[] = {
        {"VipsForeignLoadJpeg", CVipsFormatJPEG}, {"VipsForeignLoadPng", CVipsFormatPNG},
        {"VipsForeignLoadWebp", CVipsFormatWebP}, {"VipsForeignLoadNsgif", CVipsFormatGIF},
        {"VipsForeignLoadHeif", CVipsFormatHEIF}, {"VipsForeignLoadTiff", CVipsFormatTIFF},
    };
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
        if (!strncmp(loader, loaders[i].prefix, strlen(loaders[i].prefix))) return loaders[i].format;
    return CVipsFormatUnknown;
}

static bool has_field(VipsImage *image, const char *name) { return vips_image_get_typeof(image, name) != 0; }

static bool is_set(VipsImage *image, const char *name) {
    int value;
    return has_field(image, name) && !vips_image_get_int(image, name, &value) && value != 0;
}

bool cvips_read_header(const uint8_t *bytes, size_t count, CVipsHeader *header) {
    *header = (CVipsHeader) {.format = CVipsFormatUnknown, .orientation = 1};
    const char *loader = vips_foreign_find_load_buffer(bytes, count);
    if (!loader) return false;
    header->format = format_of_loader(loader);
    if (header->format == CVipsFormatUnknown) return false;
    VipsImage *image = vips_image_new_from_buffer(bytes, count, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    if (!image) return false;
    header->width = vips_image_get_width(image);
    header->height = vips_image_get_height(image);
    header->orientation = vips_image_get_orientation(image);
    header->pixel_bytes = (int32_t) VIPS_IMAGE_SIZEOF_PEL(image);
    header->is_interlaced = is_set(image, "interlaced") || is_set(image, "jpeg-multiscan");
    const char *compression;
    if (header->format == CVipsFormatHEIF && has_field(image, "heif-compression")
        && !vips_image_get_string(image, "heif-compression", &compression) && !strcmp(compression, "av1"))
        header->format = CVipsFormatAVIF;
    g_object_unref(image);
    return true;
}

/// Releases `image` and returns `result`, or `NULL` if the step failed.
static VipsImage *next(VipsImage *image, VipsImage *result, int failure) {
    g_object_unref(image);
    return failure ? NULL : result;
}

/// Returns the image with 16-bit samples rounded to 8 bits (ISO/IEC 15948, 13.12), where libvips would truncate them. Images
/// without encoded 16-bit samples are returned unchanged. Consumes the reference.
static VipsImage *rounded(VipsImage *image) {
    const VipsInterpretation interpretation = vips_image_get_interpretation(image);
    const bool is_gray = interpretation == VIPS_INTERPRETATION_GREY16;
    if (!is_gray && interpretation != VIPS_INTERPRETATION_RGB16) return image;
    VipsImage *result = NULL;
    int failure = vips_linear1(image, &result, 1.0 / 257, 0.5, "uchar", TRUE, NULL);
    image = next(image, result, failure);
    if (!image) return NULL;
    result = NULL;
    failure = vips_copy(
        image, &result, "interpretation", is_gray ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB, NULL);
    return next(image, result, failure);
}

/// Returns the image in sRGB with alpha, one byte per component. Consumes the reference.
static VipsImage *converted(VipsImage *image) {
    VipsImage *result = NULL;
    if (has_field(image, VIPS_META_ICC_NAME)
        && !vips_icc_transform(image, &result, "srgb", "embedded", TRUE, "depth", 8, NULL)) {
        image = next(image, result, 0);
    } else if (result) {
        g_object_unref(result);
    }
    result = NULL;
    image = rounded(image);
    if (!image) return NULL;
    int failure = vips_colourspace(image, &result, VIPS_INTERPRETATION_sRGB, NULL);
    image = next(image, result, failure);
    if (image && vips_image_get_format(image) != VIPS_FORMAT_UCHAR) {
        result = NULL;
        failure = vips_cast_uchar(image, &result, NULL);
        image = next(image, result, failure);
    }
    if (image && vips_image_get_bands(image) == 3) {
        result = NULL;
        failure = vips_addalpha(image, &result, NULL);
        image = next(image, result, failure);
    }
    if (image && vips_image_get_bands(image) > 4) {
        result = NULL;
        failure = vips_extract_band(image, &result, 0, "n", 4, NULL);
        image = next(image, result, failure);
    }
    return image;
}

/// Returns the image at the requested size, with the last column and row repeated where they are missing. If the sides of a
/// JPEG cannot be divided by the reduction, libvips omits the incomplete last column and row. Consumes the reference.
static VipsImage *filled(VipsImage *image, int width, int height) {
    const int missing_columns = width - vips_image_get_width(image), missing_rows = height - vips_image_get_height(image);
    if (missing_columns == 0 && missing_rows == 0) return image;
    VipsImage *result = NULL;
    int failure = missing_columns < 0 || missing_columns > 1 || missing_rows < 0 || missing_rows > 1
        || vips_embed(image, &result, 0, 0, width, height, "extend", VIPS_EXTEND_COPY, NULL);
    return next(image, result, failure);
}

static bool write_rows(VipsImage *image, uint8_t *pixels, bool (*is_cancelled)(void)) {
    const int width = vips_image_get_width(image), height = vips_image_get_height(image);
    const size_t row = (size_t) width * 4;
    const int strip = 16;
    VipsRegion *region = vips_region_new(image);
    bool is_done = true;
    for (int top = 0; is_done && top < height; top += strip) {
        VipsRect rect = {0, top, width, VIPS_MIN(strip, height - top)};
        is_done = !is_cancelled() && !vips_region_prepare(region, &rect);
        for (int y = top; is_done && y < top + rect.height; y++)
            memcpy(pixels + (size_t) y * row, VIPS_REGION_ADDR(region, 0, y), row);
    }
    g_object_unref(region);
    return is_done;
}

bool cvips_decode(
    const uint8_t *bytes, size_t count, CVipsDecoding decoding,
    uint8_t *pixels, int32_t width, int32_t height, bool (*is_cancelled)(void)) {
    char options[32] = "";
    if (decoding.reduction > 1 && decoding.format == CVipsFormatJPEG)
        g_snprintf(options, sizeof(options), "shrink=%d", decoding.reduction);
    if (decoding.reduction > 1 && decoding.format == CVipsFormatWebP) {
        char scale[G_ASCII_DTOSTR_BUF_SIZE];
        // The decimal separator must not depend on the locale.
        g_ascii_formatd(scale, sizeof(scale), "%.6f", 1.0 / decoding.reduction);
        g_snprintf(options, sizeof(options), "scale=%s", scale);
    }
    VipsImage *image = vips_image_new_from_buffer(
        bytes, count, options, "access", VIPS_ACCESS_SEQUENTIAL,
        "fail_on", decoding.allows_truncation ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR, NULL);
    if (!image) return false;
    if (decoding.reduction > 1) image = filled(image, width, height);
    if (image) image = converted(image);
    if (!image) return false;
    // The pixel buffer has exactly this size.
    bool is_done = vips_image_get_width(image) == width && vips_image_get_height(image) == height
        && vips_image_get_bands(image) == 4 && vips_image_get_format(image) == VIPS_FORMAT_UCHAR
        && write_rows(image, pixels, is_cancelled);
    g_object_unref(image);
    return is_done;
}

static void stop_if_cancelled(VipsImage *image, VipsProgress *progress, void *data) {
    // This runs on the thread of the encoding call, not on a thread of libvips, so it sees the cancellation of the call's task.
    bool (*is_cancelled)(void) = (bool (*)(void)) data;
    if (is_cancelled()) vips_image_set_kill(image, TRUE);
}

static int save(VipsImage *image, CVipsEncoding encoding, void **bytes, size_t *count) {
    // The orientation is the only metadata in the file.
    const gboolean strip = encoding.orientation == 1;
    const int subsampling = encoding.is_subsampled ? VIPS_FOREIGN_SUBSAMPLE_ON : VIPS_FOREIGN_SUBSAMPLE_OFF;
    switch (encoding.format) {
    case CVipsFormatJPEG:
        return vips_jpegsave_buffer(
            image, bytes, count, "Q", encoding.quality, "subsample_mode", subsampling, "optimize_coding", TRUE,
            "strip", strip, NULL);
    case CVipsFormatPNG:
        return vips_pngsave_buffer(image, bytes, count, "strip", strip, NULL);
    case CVipsFormatWebP:
        return vips_webpsave_buffer(
            image, bytes, count, "Q", encoding.quality, "effort", VIPS_MIN(6, encoding.effort), "strip", strip, NULL);
    case CVipsFormatGIF:
        return vips_gifsave_buffer(image, bytes, count, "effort", VIPS_MAX(1, encoding.effort), "strip", TRUE, NULL);
    case CVipsFormatAVIF:
    case CVipsFormatHEIF:
        return vips_heifsave_buffer(
            image, bytes, count, "Q", encoding.quality, "effort", encoding.effort, "subsample_mode", subsampling,
            "compression",
            encoding.format == CVipsFormatAVIF ? VIPS_FOREIGN_HEIF_COMPRESSION_AV1 : VIPS_FOREIGN_HEIF_COMPRESSION_HEVC,
            "strip", TRUE, NULL);
    case CVipsFormatTIFF:
        return vips_tiffsave_buffer(
            image, bytes, count, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE,
            "predictor", VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", FALSE, NULL);
    case CVipsFormatUnknown:
        break;
    }
    return -1;
}

/// Sets Exif data (a TIFF 6.0 directory) that contains only the orientation. For PNG, libvips writes existing Exif data but
/// creates none.
static void say_orientation(VipsImage *image, int32_t orientation) {
    const uint8_t exif[] = {
        'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
        0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, (uint8_t) orientation, 0, 0, 0, 0, 0, 0,
    };
    vips_image_set_blob_copy(image, VIPS_META_EXIF_NAME, exif, sizeof(exif));
}

/// Returns the image as the format can store it. Consumes the reference.
static VipsImage *prepared(VipsImage *image, CVipsEncoding encoding) {
    VipsImage *result = NULL;
    int failure = vips_copy(image, &result, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
    image = next(image, result, failure);
    if (!image) return NULL;
    result = NULL;
    if (encoding.is_opaque) {
        failure = vips_extract_band(image, &result, 0, "n", 3, NULL);
        image = next(image, result, failure);
    } else if (encoding.format == CVipsFormatJPEG) {
        VipsArrayDouble *white = vips_array_double_newv(1, 255.0);
        failure = vips_flatten(image, &result, "background", white, NULL);
        vips_area_unref(VIPS_AREA(white));
        image = next(image, result, failure);
    }
    if (!image) return NULL;
    vips_image_set_int(image, VIPS_META_ORIENTATION, encoding.orientation);
    if (encoding.format == CVipsFormatPNG && encoding.orientation != 1) say_orientation(image, encoding.orientation);
    const bool is_turned = encoding.format == CVipsFormatGIF || encoding.format == CVipsFormatAVIF
        || encoding.format == CVipsFormatHEIF;
    if (is_turned && encoding.orientation != 1) {
        result = NULL;
        failure = vips_autorot(image, &result, NULL);
        image = next(image, result, failure);
    }
    return image;
}

bool cvips_encode(
    const uint8_t *pixels, int32_t width, int32_t height, CVipsEncoding encoding,
    bool (*is_cancelled)(void), uint8_t **bytes, size_t *count) {
    VipsImage *memory = vips_image_new_from_memory(
        pixels, (size_t) width * (size_t) height * 4, width, height, 4, VIPS_FORMAT_UCHAR);
    if (!memory) return false;
    vips_image_set_progress(memory, TRUE);
    g_signal_connect(memory, "eval", G_CALLBACK(stop_if_cancelled), (void *) is_cancelled);
    g_object_ref(memory);
    VipsImage *image = prepared(memory, encoding);
    void *result = NULL;
    bool is_done = image && !save(image, encoding, &result, count);
    if (image) g_object_unref(image);
    g_object_unref(memory);
    *bytes = result;
    return is_done;
}

void cvips_free(uint8_t *bytes) { g_free(bytes); }

void cvips_discard_notes(void) { vips_error_clear(); }

void cvips_leave_thread(void) { vips_thread_shutdown(); }

#endif
