import { type Client, endpointUrls } from "@virtual-workspaces/client";
import { APIBinding, APIExport, APIExportEndpointSlice, APIResourceSchema } from "@virtual-workspaces/kcp";
import { isConditionFalse } from "@virtual-workspaces/kcp/conditions";
import { type ExaminedServer, unless } from "./examined-server.ts";
import { watched } from "./server-steps.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";
import { meantObject } from "./suggest.ts";

/** An export to examine, in the workspace of `patient`. */
export interface ExaminedExport {
  readonly patient: ExaminedServer;
  readonly name: string;
  found?: APIExport;
  endpoints?: readonly string[];
}

type ExportStep = Step<ExaminedExport>;

const there: ExportStep = {
  title: "the export exists and is valid",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(patient.client().resource(APIExport).get(name, patient.patience), async (error) =>
      error.code === 404
        ? new StepFailure(
            `${patient.path} has no APIExport ${name}`,
            `${await meantObject(patient, name, { of: "apiexports" })}list them with kubectl get apiexports; for another workspace use --server, or path:name`,
          )
        : new StepFailure(error.message, "use a user who may get APIExports in this workspace"),
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
        "status.identityHash is empty",
        "a controller of the server sets it: check that the server runs, and read its log",
      );
    return `identity ${identityHash}`;
  },
};

const described: ExportStep = {
  title: "its schemas exist",
  run: async ({ patient, name, found }) => {
    const resources = found?.spec?.resources ?? [];
    if (resources.length === 0) throw new Skipped("the export has no resources of its own");
    const schemas = patient.client().resource(APIResourceSchema);
    for (const { schema } of resources)
      await unless(schemas.get(schema, patient.patience), (error) =>
        error.code === 404
          ? new StepFailure(
              `APIResourceSchema ${schema}, which ${name} names, does not exist`,
              `create it with kubectl create, or name another one with kubectl edit apiexport ${name}`,
            )
          : new StepFailure(error.message, "use a user who may get APIResourceSchemas in this workspace"),
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
      (error) => new StepFailure(error.message, "use a user who may list APIExportEndpointSlices in this workspace"),
    );
    const own = items.filter(({ spec }) => spec?.export?.name === name);
    const slice = own[0]?.metadata.name;
    if (slice === undefined)
      throw new StepFailure(
        `no APIExportEndpointSlice refers to ${name}`,
        `create one: echo '{"apiVersion":"apis.kcp.io/v1alpha1","kind":"APIExportEndpointSlice","metadata":{"name":"${name}"},"spec":{"export":{"name":"${name}"}}}' | kubectl create -f -`,
      );
    const endpoints = [...new Set(own.flatMap((one) => endpointUrls(one)))];
    examined.endpoints = endpoints;
    if (endpoints.length > 0) return endpoints.join(", ");
    throw new StepFailure(
      `the APIExportEndpointSlice ${slice} has no endpoints`,
      `each shard with a binding of the export has one: bind the export, or read the conditions: kubectl get apiexportendpointslice ${slice} -o yaml`,
    );
  },
};

const bound: ExportStep = {
  title: "its view is reachable, and the export is bound",
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
            `in ${where} its phase is ${status?.phase ?? "-"}, not Bound`,
            "read its conditions: kubectl get apibinding -o yaml in that workspace",
          );
        const claims = examined.found?.spec?.permissionClaims ?? [];
        for (const { group = "", resource } of claims) {
          const answer = spec.permissionClaims?.find((one) => (one.group ?? "") === group && one.resource === resource);
          if (answer?.state !== "Accepted")
            throw new StepFailure(
              `in ${where} the claim for ${resource}${group === "" ? "" : `.${group}`} is ${answer?.state ?? "not answered"}`,
              "accept it in spec.permissionClaims of that APIBinding: until then the provider of the export sees none of these objects",
            );
        }
      }
    }
    if (count > 0) return `${count} bindings`;
    throw new StepFailure(
      `no APIBinding refers to ${name}`,
      `create one in a workspace that needs it: echo '{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIBinding","metadata":{"name":"${name}"},"spec":{"reference":{"export":{"path":"<path>","name":"${name}"}}}}' | kubectl create -f -`,
    );
  },
};

const followed: ExportStep = {
  title: "a watch of its first resource syncs",
  run: async ({ patient, endpoints = [], found }) => {
    const [resource] = found?.spec?.resources ?? [];
    const [url] = endpoints;
    if (resource === undefined || url === undefined) throw new Skipped("the export has no resources of its own");
    const view = viewAt(patient, url);
    const kind = await view.discovery().findResource(`${resource.name}.${resource.group}`, patient.patience);
    if (kind === undefined)
      throw new StepFailure(
        `${resource.name}.${resource.group} is not served at ${url}`,
        "check its schema, and read the server's log",
      );
    return watched(view.resource(kind), kind.plural);
  },
};

/** Steps for an export, in its workspace. */
export const EXPORT: readonly ExportStep[] = [there, described, published, bound, followed];

/** Returns a client for all workspaces at an endpoint, which may be another host than that of the kubeconfig. */
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
      `${JSON.stringify(patient.user)} has no access to the view: ${message}`,
      `an administrator of the export's workspace must allow the verbs for the subresource apiexports/content of ${name} with a ClusterRole`,
    );
  if (typeof code === "number")
    return new StepFailure(
      `${url}: ${code}: ${message}`,
      "read the log of the server that serves the virtual workspaces",
    );
  return new StepFailure(
    `cannot reach ${url}: ${message}`,
    "the Shard sets this address (spec.virtualWorkspaceURL): correct it, and check that its server runs",
  );
}
