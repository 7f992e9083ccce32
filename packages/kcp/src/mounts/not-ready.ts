import { ApiError } from "@virtual-workspaces/apimachinery";

/** When clients may ask again, s. Those of Kubernetes do so by themselves, ten times, before they say why. */
const RETRY_AFTER = 1;

/** 503: what is mounted cannot be had for now. @param message names the mount, and says how it is, since when and why */
export function mountNotReady(message: string): ApiError {
  return ApiError.serviceUnavailable(message, RETRY_AFTER);
}
