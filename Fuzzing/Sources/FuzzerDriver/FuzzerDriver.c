#include "FuzzerDriver.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *, size_t));
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

// SwiftPM names the entry point of an executable after its target, so libFuzzer's own `main` is not used. This defines the entry
// point of each fuzz target, which starts libFuzzer.
#define BEGIN(name) \
    int name(int count, char **arguments) { return LLVMFuzzerRunDriver(&count, &arguments, LLVMFuzzerTestOneInput); }

BEGIN(fuzz_addresses_main)
BEGIN(fuzz_http_cache_main)
BEGIN(fuzz_http_fields_main)
BEGIN(fuzz_inflate_main)
BEGIN(fuzz_jpeg_main)
BEGIN(fuzz_json_records_main)
BEGIN(fuzz_outbox_entries_main)
BEGIN(fuzz_png_main)
BEGIN(fuzz_record_log_main)
BEGIN(fuzz_redirects_main)
BEGIN(fuzz_structured_fields_main)
BEGIN(fuzz_text_main)
BEGIN(fuzz_tiff_main)
BEGIN(fuzz_vips_main)
