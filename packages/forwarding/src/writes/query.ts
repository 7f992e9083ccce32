import type { DeleteOptions, PatchOptions, WriteOptions } from "@virtual-workspaces/framework";
import type { Query } from "../outbound/path.ts";

/** How applies are sent. */
export const APPLY = "application/apply-patch+yaml";

/** The options of a create or update, as its query says them. The manager of fields is the caller's program, not ours. */
export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): Query {
  return { dryRun: dryRun ? "All" : undefined, fieldManager, fieldValidation };
}

/** The same of a patch. */
export function patchQuery(options: PatchOptions, isApply: boolean): Query {
  return { ...writeQuery(options), force: isApply && options.force ? true : undefined };
}

/** The options of a delete, as its body says them; nothing when there are none. */
export function deleteBody(
  options: DeleteOptions,
): { readonly contentType: string; readonly body: string } | undefined {
  const { dryRun, gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = options;
  const said = {
    ...(dryRun && { dryRun: ["All"] }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(preconditions !== undefined && { preconditions }),
  };
  if (Object.keys(said).length === 0) return undefined;
  const body = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", ...said });
  return { contentType: "application/json", body };
}
