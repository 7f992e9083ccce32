import { type ApiBinding, BINDINGS } from "../kinds.ts";
import { celText, everywhere, type Found } from "../lists.ts";
import { viewPath } from "../view-path.ts";

export interface ExportPlace {
  readonly workspace: string;
  /** Name of the logical cluster of the export. */
  readonly cluster: string;
  readonly name: string;
}

/** The bindings of an export: over all workspaces, from the view of the export, and in its workspace. To be read while a component is rendered. */
export function useBindings(at: ExportPlace): Omit<Found<ApiBinding>, "items"> & {
  readonly bindings: readonly ApiBinding[];
} {
  const { cluster, name } = at;
  const path = "apis/apis.kcp.io/v1alpha2/apibindings";
  const { items, ...rest } = everywhere<ApiBinding>(BINDINGS, {
    filter: `object.spec.reference.export.name == ${celText(name)}`,
    others: [`${viewPath(cluster, name)}/clusters/*/${path}`, `clusters/${cluster}/${path}`],
  });
  return { bindings: items.filter((one) => isOf(one, at)), ...rest };
}

function isOf({ spec, status, metadata }: ApiBinding, { workspace, cluster, name }: ExportPlace): boolean {
  const reference = spec?.reference?.export;
  if (reference?.name !== name) return false;
  if (status?.apiExportClusterName) return status.apiExportClusterName === cluster;
  const { path = metadata.annotations?.["kcp.io/cluster"] } = reference;
  return path === workspace || path === cluster;
}
