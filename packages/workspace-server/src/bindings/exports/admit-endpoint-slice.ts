import { fieldRequired } from "@virtual-workspaces/apimachinery";
import type { Admit } from "@virtual-workspaces/framework";
import { type APIExportEndpointSlice, clusterOf } from "@virtual-workspaces/kcp";
import type { IsAllowed } from "../../authz/access.ts";
import type { Exports } from "./exports.ts";
import { bindAttributes } from "./bind-access.ts";
import { forbidden, refusedFor } from "./refusals.ts";

/** Admission of APIExportEndpointSlices: who makes one must be allowed to bind the export (kcp's plugin of that name). */
export function admitEndpointSlice(exports: Exports, mayAccess: IsAllowed): Admit {
  return (request) => {
    const { object, operation, params, user } = request;
    if (object === undefined || operation !== "CREATE") return;
    request.validate(async (next) => {
      const reference = (next as APIExportEndpointSlice).spec?.export;
      if (reference === undefined || reference.name === "")
        throw refusedFor(request, [fieldRequired("spec.export.name")]);
      const { cluster = "" } = params;
      const { path = "" } = reference;
      const found = path === "" ? undefined : exports.find(reference, cluster);
      const there = path === "" ? cluster : found && clusterOf(found);
      if (there !== undefined && (await mayAccess(user, there, bindAttributes(reference.name)))) return;
      const named = path === "" ? reference.name : `${path}:${reference.name}`;
      throw forbidden(request, `unable to create APIExportEndpointSlice: no permission to bind to export ${named}`);
    });
  };
}
