import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";

/** The error of a name that is taken: one who waits for it to be free learns that it will be. */
export function taken(error: ApiError, there: KubeObject | undefined): ApiError {
  if (there?.metadata.deletionTimestamp === undefined) return error;
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.status.message}` });
}
