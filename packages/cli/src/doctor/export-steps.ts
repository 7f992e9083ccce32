import { type Client, endpointUrls } from "@virtual-workspaces/client";
import { APIBinding, APIExport, APIExportEndpointSlice, APIResourceSchema } from "@virtual-workspaces/kcp";
import { isConditionFalse } from "@virtual-workspaces/kcp/conditions";
import { type ExaminedServer, unless } from "./examined-server.ts";
import { watched } from "./server-steps.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";

/** An export that is examined, in the workspace of the patient. */
export interface ExaminedExport {
  readonly patient: ExaminedServer;
  readonly name: string;
  found?: APIExport;
  endpoints?: readonly string[];
}

type ExportStep = Step<ExaminedExport>;

const there: ExportStep = {
  title: "the export is there, and right",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(patient.client().resource(APIExport).get(name, patient.patience), (error) =>
      error.code === 404
        ? new StepFailure(
            `there is no APIExport ${name} in ${patient.path}`,
            "kubectl get apiexports shows which there are; another workspace: --server, or path:name",
          )
        : new StepFailure(error.message, "take a user who may get APIExports there"),
    );
    examined.found = found;
    const { identityHash = "", conditions = [] } = found.status ?? {};
    const wrong = conditions.find(({ type }) => isConditionFalse(conditions, type));
    if (wrong !== undefined)
      throw new StepFailure(
        `its condition ${wrong.type} is False, ${wrong.reason}: ${wrong.message}`,
        `kubectl get apiexport ${name} -o yaml`,
      );
    if (identityHash === "")
      throw new StepFailure(
        "it has no identity (status.identityHash)",
        "a controller of the server sets it: see whether the server runs, and its log",
      );
    return `identity ${identityHash}`;
  },
};

const described: ExportStep = {
  title: "its schemas are there",
  run: async ({ patient, name, found }) => {
    const resources = found?.spec?.resources ?? [];
    if (resources.length === 0) throw new Skipped("it exports no resources of its own");
    const schemas = patient.client().resource(APIResourceSchema);
    for (const { schema } of resources)
      await unless(schemas.get(schema, patient.patience), (error) =>
        error.code === 404
          ? new StepFailure(
              `there is no APIResourceSchema ${schema}, which ${name} names`,
              `kubectl create it, or name another one: kubectl edit apiexport ${name}`,
            )
          : new StepFailure(error.message, "take a user who may get APIResourceSchemas there"),
      );
    return resources.map(({ schema }) => schema).join(", ");
  },
};

const published: ExportStep = {
  title: "its URLs are published",
  run: async (examined) => {
    const { patient, name } = examined;
    const { items } = await unless(
      patient.client().resource(APIExportEndpointSlice).all(patient.patience),
      (error) => new StepFailure(error.message, "take a user who may list APIExportEndpointSlices there"),
    );
    const own = items.filter(({ spec }) => spec?.export?.name === name);
    const slice = own[0]?.metadata.name;
    if (slice === undefined)
      throw new StepFailure(
        `no APIExportEndpointSlice is of ${name}`,
        `make one: echo '{"apiVersion":"apis.kcp.io/v1alpha1","kind":"APIExportEndpointSlice","metadata":{"name":"${name}"},"spec":{"export":{"name":"${name}"}}}' | kubectl create -f -`,
      );
    const endpoints = [...new Set(own.flatMap((one) => endpointUrls(one)))];
    examined.endpoints = endpoints;
    if (endpoints.length > 0) return endpoints.join(", ");
    throw new StepFailure(
      `the APIExportEndpointSlice ${slice} has no endpoints`,
      `there is one for each shard where somebody has bound the export: bind it, or see its conditions: kubectl get apiexportendpointslice ${slice} -o yaml`,
    );
  },
};

const bound: ExportStep = {
  title: "it is reached, and bound",
  run: async (examined) => {
    const { patient, name } = examined;
    let count = 0;
    for (const url of examined.endpoints ?? []) {
      const bindings = await viewAt(patient, url)
        .resource(APIBinding)
        .all(patient.patience)
        .catch((error: unknown) => {
          throw ofView(patient, url, { name, error });
        });
      for (const { metadata, status, spec } of bindings.items) {
        count += 1;
        const where = `${metadata.annotations?.["kcp.io/cluster"]}, APIBinding ${metadata.name}`;
        if (status?.phase !== "Bound")
          throw new StepFailure(
            `in ${where} it is in the phase ${status?.phase ?? "-"}, not Bound`,
            "its conditions say why: kubectl get apibinding -o yaml there",
          );
        const claims = examined.found?.spec?.permissionClaims ?? [];
        for (const { group = "", resource } of claims) {
          const answer = spec.permissionClaims?.find((one) => (one.group ?? "") === group && one.resource === resource);
          if (answer?.state !== "Accepted")
            throw new StepFailure(
              `in ${where} the claim for ${resource}${group === "" ? "" : `.${group}`} is ${answer?.state ?? "not answered"}`,
              "whoever has bound it accepts it there, in spec.permissionClaims: the export's provider has none of these objects until then",
            );
        }
      }
    }
    if (count > 0) return `${count} bindings`;
    throw new StepFailure(
      `nobody has bound ${name}`,
      `in a workspace that wants it: echo '{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIBinding","metadata":{"name":"${name}"},"spec":{"reference":{"export":{"path":"<path>","name":"${name}"}}}}' | kubectl create -f -`,
    );
  },
};

const followed: ExportStep = {
  title: "a watch of it shows what there is",
  run: async ({ patient, endpoints = [], found }) => {
    const [resource] = found?.spec?.resources ?? [];
    const [url] = endpoints;
    if (resource === undefined || url === undefined) throw new Skipped("it exports no resources of its own");
    const view = viewAt(patient, url);
    const kind = await view.discovery().findResource(`${resource.name}.${resource.group}`, patient.patience);
    if (kind === undefined)
      throw new StepFailure(
        `${resource.name}.${resource.group} is not served at ${url}`,
        "its schema may be wrong: see the server's log",
      );
    return watched(view.resource(kind), kind.plural);
  },
};

/** Of an export, in its workspace. */
export const EXPORT: readonly ExportStep[] = [there, described, published, bound, followed];

/** All workspaces at an endpoint: its path, at the server that the kubeconfig names, or wherever it is. */
function viewAt(patient: ExaminedServer, url: string): Client {
  return patient.clientAt(`${url.replace(/\/+$/, "")}/clusters/*`);
}

function ofView(
  patient: ExaminedServer,
  url: string,
  { name, error }: { readonly name: string; readonly error: unknown },
): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message: string };
  if (code === 403)
    return new StepFailure(
      `${JSON.stringify(patient.user)} may not ask there: ${message}`,
      `have an administrator of the export's workspace allow the subresource apiexports/content of ${name} by a ClusterRole, with the verbs that are wanted`,
    );
  if (typeof code === "number")
    return new StepFailure(`${url}: ${code}: ${message}`, "see the log of the server of virtual workspaces");
  return new StepFailure(
    `${url} is not reached: ${message}`,
    "it is where the Shard says (spec.virtualWorkspaceURL): have that right, and its server running",
  );
}
