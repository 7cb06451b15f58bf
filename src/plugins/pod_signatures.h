#pragma once

#include <string>
#include <string_view>

#include "api/pod.h"
#include "api/pod_record.h"
#include "framework/features.h"
#include "framework/queue_points.h"
#include "framework/signature.h"

// What several plugins read of a pod, and so put into its signature under one key with one value.
namespace berth::plugins {

// With its length, so that no two lists of fields give one text.
void AppendField(std::string& text, std::string_view field);

void SignTolerations(const api::PodSpec& spec, framework::Signature& signature);

// Every amount that some plugin judges or scores the pod by.
void SignRequests(const framework::WaitingPod& pod, const framework::Features& features,
                  framework::Signature& signature);

// The sources of its volumes, in no order.
void SignVolumes(const api::PodRecord& pod, framework::Signature& signature);

}  // namespace berth::plugins
