import { isApiError, isJsonObject, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { MOUNT_READY_CONDITION, Workspace } from "@virtual-workspaces/kcp";
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { type ExaminedServer, objectIn, unless } from "./examined-server.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";
import { meantObject } from "./suggest.ts";

/** A mounted workspace to examine, in the workspace of `patient`. */
export interface ExaminedMount {
  readonly patient: ExaminedServer;
  readonly name: string;
  found?: Workspace;
}

type MountStep = Step<ExaminedMount>;

const mounted: MountStep = {
  title: "the workspace exists and is mounted",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(
      patient.client().resource(Workspace).get(name, patient.patience),
      async (error) =>
        new StepFailure(
          error.message,
          error.code === 404
            ? `${await meantObject(patient, name, { of: "workspaces" })}list them with kubectl get workspaces`
            : "use a user who may get Workspaces in this workspace",
        ),
    );
    examined.found = found;
    const { mount } = found.spec;
    if (mount === undefined)
      throw new StepFailure(
        `workspace ${name} is not mounted`,
        `examine it by its URL: virtual-workspaces doctor ${patient.url}:${name}`,
      );
    return `${mount.ref.kind} ${mount.ref.namespace === undefined ? "" : `${mount.ref.namespace}/`}${mount.ref.name}`;
  },
};

const object: MountStep = {
  title: "its mount object exists and is Ready",
  run: async ({ patient, found }) => {
    const { apiVersion = "", kind = "", name = "", namespace } = found?.spec.mount?.ref ?? {};
    const { group = "", version = "" } = parseApiVersion(apiVersion) ?? {};
    const client = patient.client();
    const served = await client.discovery().look({ group, version, kind }, patient.patience);
    if (served === undefined)
      throw new StepFailure(
        `${patient.path} has no kind ${kind} of ${apiVersion}`,
        "bind the APIExport that has the kind, or create its CustomResourceDefinition",
      );
    const all = client.resource(served);
    const one = await unless(
      (namespace === undefined ? all : all.in(namespace)).get(name, patient.patience),
      (error) =>
        error.code === 404
          ? new StepFailure(
              `${kind} ${name} does not exist`,
              `create it: the workspace becomes Ready when the object is`,
            )
          : new StepFailure(error.message, `use a user who may get ${served.plural} in this workspace`),
    );
    const status = (one as { readonly status?: unknown }).status;
    const { phase, URL: url, conditions } = isJsonObject(status) ? status : {};
    if (phase !== "Ready")
      throw new StepFailure(
        `its status.phase is ${JSON.stringify(phase ?? null)}, not "Ready"${whyNot(conditions)}`,
        `read its status: kubectl get ${served.plural} ${name} -o yaml`,
      );
    if (typeof url !== "string" || !globalThis.URL.canParse(url))
      throw new StepFailure(
        `its status.URL is ${url === undefined ? "missing" : "no URL"}`,
        "the controller of that kind must set it to the URL of the API",
      );
    return url;
  },
};

const taken: MountStep = {
  title: "the workspace has taken over its status",
  run: async ({ found }) => {
    const { phase, conditions } = found?.status ?? {};
    const condition = getCondition(conditions, MOUNT_READY_CONDITION);
    if (phase === "Ready" && condition?.status !== "False" && found?.spec.URL) return found.spec.URL;
    const why =
      condition === undefined
        ? "no controller has reconciled it yet"
        : `${condition.reason ?? condition.status}: ${condition.message ?? ""}`;
    throw new StepFailure(
      `the phase of the workspace is ${phase ?? "Scheduling"}: ${why}`,
      "enable the feature gate WorkspaceMounts, whose controller does this, and read the server's log",
    );
  },
};

const answered: MountStep = {
  title: "the target answers and authenticates the user",
  run: async ({ patient, name }) => {
    const path = `${patient.path}:${name}`;
    await unless(patient.ask(`${path}/api`), (error) => {
      if (error.code === 403)
        return new StepFailure(
          `the target denies access: ${error.message}`,
          "the target has its own rules: allow the user there that the requests are sent as",
        );
      return new StepFailure(
        `${error.code}: ${error.message}`,
        "check that the target runs, and read the log of the server that proxies to it",
      );
    });
    try {
      const said = objectIn(await patient.review(path));
      const status = isJsonObject(said?.["status"]) ? said["status"] : {};
      const user = isJsonObject(status["userInfo"]) ? status["userInfo"]["username"] : undefined;
      return `as ${String(user)}${user === patient.user ? "" : `, who is ${patient.user} here`}`;
    } catch (error) {
      if (isApiError(error)) throw new Skipped(`the target answers, but does not name the user: ${error.message}`);
      throw error;
    }
  },
};

/** Steps for a mounted workspace, in its parent. */
export const MOUNT: readonly MountStep[] = [mounted, object, taken, answered];

function whyNot(conditions: unknown): string {
  const wrong = (Array.isArray(conditions) ? conditions : []).find(
    (one) => isJsonObject(one) && one["status"] === "False",
  );
  return wrong === undefined ? "" : `; ${wrong["type"]}: ${wrong["message"] ?? wrong["reason"] ?? "False"}`;
}
