import { isTunnelError, type TunnelErrorCode } from "@virtual-workspaces/cluster-proxy";
import { expect } from "chai";

/** Returns the error of a promise. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return expect.fail("it did not fail");
}

/** Returns the code of a stream's error. */
export async function codeOf(promise: Promise<unknown>): Promise<TunnelErrorCode> {
  const error = await failure(promise);
  return isTunnelError(error) ? error.code : expect.fail(String(error));
}
