/*
 * pprof.h - the two directions of one format, and the words both sides use
 *
 * A file is one protobuf message, usually in gzip (google/pprof, profile.proto):
 *
 *     Profile    1 sample_type*  2 sample*  3 mapping*  4 location*  5 function*  6 string_table*
 *                7 drop_frames  8 keep_frames  9 time_nanos  10 duration_nanos
 *                11 period_type  12 period  13 comment*  14 default_sample_type  15 doc_url
 *     ValueType  1 type  2 unit
 *     Sample     1 location_id* (leaf first)  2 value* (one per sample_type)  3 label*
 *     Label      1 key  2 str  3 num  4 num_unit
 *     Mapping    1 id  2 memory_start  3 memory_limit  4 file_offset  5 filename  6 build_id
 *                7 has_functions  8 has_filenames  9 has_line_numbers  10 has_inline_frames
 *     Location   1 id  2 mapping_id  3 address  4 line* (innermost first)
 *     Line       1 function_id  2 line
 *     Function   1 id  2 name  3 system_name  4 filename  5 start_line
 *
 * Every text is the number of a row in string_table; row 0 is "".
 */
#pragma once
#include "formats/format.h"
#include "formats/proto_wire.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
    PROFILE_DROP_FRAMES, PROFILE_KEEP_FRAMES, PROFILE_TIME, PROFILE_DURATION,
    PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE, PROFILE_DOC_URL,
    PROFILE_FIELD_END
};

/* Whether a field at the top of a message is spelled as a profile spells it; unknown fields are. */
bool pprof_fits(const struct proto_field *f);

bool pprof_read(struct builder *b, struct reader *in, struct err *e) MUST_CHECK;
bool pprof_write(const struct profile *p, struct sink *out, struct err *e) MUST_CHECK;
