import { ApiError, formatCause, type StatusCause } from "@virtual-workspaces/apimachinery";
import { type AdmitRequest, groupResourceOf } from "@virtual-workspaces/framework";

/** 403 with a text, as kcp's admission refuses. */
export function forbidden({ definition, object, oldObject }: AdmitRequest, message: string): ApiError {
  const { name } = (object ?? oldObject)?.metadata ?? {};
  return ApiError.forbidden({ resource: groupResourceOf(definition), name, message });
}

/** 403 with a list of faults, as Go prints one: `[a b]`. */
export function refusedFor(request: AdmitRequest, problems: readonly StatusCause[]): ApiError {
  return forbidden(request, `[${problems.map(formatCause).join(" ")}]`);
}
