import { isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError } from "@virtual-workspaces/transport";

/** Whether a server has said no, or nothing in time: that is about one workspace, and no end of the command. */
export function isRefusal(error: unknown): error is Error {
  return isApiError(error) || isTransportError(error) || (error instanceof Error && error.name === "TimeoutError");
}

/** What one may not see, or what does not answer, is left out. */
export async function known<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}
