#pragma once

#include "client/api_client.h"
#include "client/claim_writer.h"
#include "client/pod_writer.h"
#include "client/volume_writer.h"

#include "base/error.h"
#include "base/random.h"
#include "base/task.h"
#include "framework/object_writes.h"

namespace berth::shell {

// Makes the requests that plugins ask for.
class ObjectRequests {
 public:
  // `client` outlives it.
  ObjectRequests(client::ApiClient& client, base::Random random)
      : volumes_(client), claims_(client, random), pods_(client, random) {}

  base::Task<base::Result<cluster::AnyObject>> Request(framework::ObjectWrite write);

 private:
  client::VolumeWriter volumes_;
  client::ClaimWriter claims_;
  client::PodWriter pods_;
};

}  // namespace berth::shell
