#include "tutti/tutti.h"

#include "api/check.h"
#include "api/export.h"

using namespace tutti;       // NOLINT(google-build-using-namespace): this file is the border between both worlds
using namespace tutti::api;  // NOLINT(google-build-using-namespace)

namespace {

ncclResult_t create(const char* function, void* out_argument, Result<void*> (*make)()) {
  return call(function, [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_not_null(out_argument, function, "out"));
    TUTTI_ASSIGN_OR_RETURN(*static_cast<void**>(out_argument), make());
    return {};
  });
}

// CUDA's default streams are the null stream.
void* handle_of(tuttiStream_t stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2 ? nullptr : stream;
}

}  // namespace

TUTTI_EXPORT ncclResult_t tuttiGetVersion(int* version) {
  return call("tuttiGetVersion", [=]() -> Status {
    TUTTI_RETURN_IF_ERROR(check_not_null(version, "tuttiGetVersion", "version"));
    *version = TUTTI_VERSION_NUMBER;
    return {};
  });
}

TUTTI_EXPORT ncclResult_t tuttiStreamCreate(tuttiStream_t* stream) {
  return create("tuttiStreamCreate", stream, runtime::stream_create);
}
TUTTI_EXPORT ncclResult_t tuttiStreamDestroy(tuttiStream_t stream) {
  return call("tuttiStreamDestroy", [=] { return runtime::stream_destroy(stream); });
}
TUTTI_EXPORT ncclResult_t tuttiStreamSynchronize(tuttiStream_t stream) {
  return call("tuttiStreamSynchronize", [=] { return runtime::stream_synchronize(handle_of(stream)); });
}
TUTTI_EXPORT ncclResult_t tuttiStreamQuery(tuttiStream_t stream) {
  return call("tuttiStreamQuery", [=] { return runtime::stream_query(handle_of(stream)); });
}

TUTTI_EXPORT ncclResult_t tuttiEventCreate(tuttiEvent_t* event) {
  return create("tuttiEventCreate", event, runtime::event_create);
}
TUTTI_EXPORT ncclResult_t tuttiEventDestroy(tuttiEvent_t event) {
  return call("tuttiEventDestroy", [=] { return runtime::event_destroy(event); });
}
TUTTI_EXPORT ncclResult_t tuttiEventRecord(tuttiEvent_t event, tuttiStream_t stream) {
  return call("tuttiEventRecord", [=] { return runtime::event_record(event, handle_of(stream)); });
}
TUTTI_EXPORT ncclResult_t tuttiEventSynchronize(tuttiEvent_t event) {
  return call("tuttiEventSynchronize", [=] { return runtime::event_synchronize(event); });
}
TUTTI_EXPORT ncclResult_t tuttiEventQuery(tuttiEvent_t event) {
  return call("tuttiEventQuery", [=] { return runtime::event_query(event); });
}
TUTTI_EXPORT ncclResult_t tuttiStreamWaitEvent(tuttiStream_t stream, tuttiEvent_t event) {
  return call("tuttiStreamWaitEvent", [=] { return runtime::stream_wait_event(handle_of(stream), event); });
}
