import type { RawRequest } from "@virtual-workspaces/framework";

/** A request as it is where it goes: the same, but for what its path begins with. */
export function placed<R extends RawRequest<unknown>>(request: R, prefix: string): R {
  return prefix === request.prefix ? request : Object.create(request, { prefix: { value: prefix, enumerable: true } });
}
