import { type ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError, type TransportError } from "@virtual-workspaces/transport";
import { expect } from "chai";

/** Returns the error with which a promise rejects. */
export async function rejected(promise: Promise<unknown>): Promise<Error> {
  const [result] = await Promise.allSettled([promise]);
  if (result?.status !== "rejected") return expect.fail("nothing was thrown");
  return result.reason as Error;
}

export async function apiError(promise: Promise<unknown>): Promise<ApiError> {
  const error = await rejected(promise);
  if (!isApiError(error)) throw error;
  return error;
}

export async function transportError(promise: Promise<unknown>): Promise<TransportError> {
  const error = await rejected(promise);
  if (!isTransportError(error)) throw error;
  return error;
}
