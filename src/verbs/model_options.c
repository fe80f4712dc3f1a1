#include "verbs/model_options.h"
#include "base/text.h"

#include <math.h>

bool model_settings_read(const struct model_settings *s, struct model_plan *out_model, struct session_plan *out_session, struct err *e)
{
    int64_t value;
    unsigned decimals;
    if (!text_to_decimal(view_of(s->temperature), &value, &decimals) || value < 0)
        return err_set(e, ERR_USAGE, "--temperature: '%s' is not a number from 0 up", s->temperature);
    *out_model = (struct model_plan){.seed = s->seed, .threads = (unsigned)s->threads, .precision = s->precision};
    *out_session = (struct session_plan){
        .seed = s->seed, .temperature = (double)value * pow(10, -(double)decimals), .top_k = (uint32_t)s->top_k, .context = (uint32_t)s->context,
    };
    return true;
}
