import { isApiError } from "@virtual-workspaces/apimachinery";

/** What is had instead where a server answers with that code: `get(name).catch(orElse(404, () => undefined))`. Other errors stay errors. */
export function orElse<T>(code: number, otherwise: () => T): (error: unknown) => T {
  return (error) => {
    if (isApiError(error) && error.code === code) return otherwise();
    throw error;
  };
}
