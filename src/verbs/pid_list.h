/*
 * pid_list.h - the processes that --pid names
 */
#pragma once
#include "base/option.h"

bool pid_list_read(const struct option_list *texts, int32_t out[OPTION_LIST_MOST], struct err *e) MUST_CHECK;
