import { formatCause } from "@virtual-workspaces/apimachinery";
import type { Admit } from "@virtual-workspaces/framework";
import {
  type APIExport,
  type APIExportV1alpha1,
  apiExportProblems,
  apiExportToV1alpha2,
  isClaimable,
} from "@virtual-workspaces/kcp";
import type { ShardState } from "../../state/shard-state.ts";
import { withPath } from "./path-annotation.ts";
import { forbidden } from "./refusals.ts";

/** Admission of APIExports of both versions (kcp's `apis.kcp.io/APIExport`, `kcp.io/PathAnnotation`). */
export function admitApiExport(state: Pick<ShardState, "logicalCluster">): Admit {
  return (request) => {
    const { definition, object, subresource } = request;
    if (object === undefined) return undefined;
    request.validate((next) => {
      const isOlder = definition.version === "v1alpha1";
      const checked = isOlder ? apiExportToV1alpha2(next as APIExportV1alpha1) : next;
      const [problem] = apiExportProblems(checked as APIExport, isClaimable);
      if (problem !== undefined) throw forbidden(request, formatCause(problem));
    });
    return subresource === "" ? withPath(request, object, { state }) : undefined;
  };
}
