import { isApiError, isJsonObject, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { MOUNT_READY_CONDITION, Workspace } from "@virtual-workspaces/kcp";
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { type ExaminedServer, objectIn, unless } from "./examined-server.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";

/** A mounted workspace that is examined, in the workspace of the patient. */
export interface ExaminedMount {
  readonly patient: ExaminedServer;
  readonly name: string;
  found?: Workspace;
}

type MountStep = Step<ExaminedMount>;

const mounted: MountStep = {
  title: "the workspace is there, and mounted",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(
      patient.client().resource(Workspace).get(name, patient.patience),
      (error) =>
        new StepFailure(
          error.message,
          error.code === 404
            ? "kubectl get workspaces shows which there are"
            : "take a user who may get Workspaces there",
        ),
    );
    examined.found = found;
    const { mount } = found.spec;
    if (mount === undefined)
      throw new StepFailure(
        `the workspace ${name} is not mounted`,
        `examine it by its URL: virtual-workspaces doctor ${patient.url}:${name}`,
      );
    return `${mount.ref.kind} ${mount.ref.namespace === undefined ? "" : `${mount.ref.namespace}/`}${mount.ref.name}`;
  },
};

const object: MountStep = {
  title: "what it is mounted on is there, and Ready",
  run: async ({ patient, found }) => {
    const { apiVersion = "", kind = "", name = "", namespace } = found?.spec.mount?.ref ?? {};
    const { group = "", version = "" } = parseApiVersion(apiVersion) ?? {};
    const client = patient.client();
    const served = await client.discovery().look({ group, version, kind }, patient.patience);
    if (served === undefined)
      throw new StepFailure(
        `there is no kind ${kind} of ${apiVersion} in ${patient.path}`,
        "bind the APIExport that has it, or make its CustomResourceDefinition",
      );
    const all = client.resource(served);
    const one = await unless(
      (namespace === undefined ? all : all.in(namespace)).get(name, patient.patience),
      (error) =>
        error.code === 404
          ? new StepFailure(`there is no ${kind} ${name}`, `make it: the workspace becomes Ready when it is`)
          : new StepFailure(error.message, `take a user who may get ${served.plural} there`),
    );
    const status = (one as { readonly status?: unknown }).status;
    const { phase, URL: url, conditions } = isJsonObject(status) ? status : {};
    if (phase !== "Ready")
      throw new StepFailure(
        `its status.phase is ${JSON.stringify(phase ?? null)}, not "Ready"${whyNot(conditions)}`,
        `what it says of itself: kubectl get ${served.plural} ${name} -o yaml`,
      );
    if (typeof url !== "string" || !globalThis.URL.canParse(url))
      throw new StepFailure(
        `its status.URL is ${url === undefined ? "missing" : "no URL"}`,
        "the controller of that kind has to say where the API is",
      );
    return url;
  },
};

const taken: MountStep = {
  title: "the workspace has taken that over",
  run: async ({ found }) => {
    const { phase, conditions } = found?.status ?? {};
    const condition = getCondition(conditions, MOUNT_READY_CONDITION);
    if (phase === "Ready" && condition?.status !== "False" && found?.spec.URL) return found.spec.URL;
    const why =
      condition === undefined
        ? "nobody has looked at it yet"
        : `${condition.reason ?? condition.status}: ${condition.message ?? ""}`;
    throw new StepFailure(
      `the workspace is in the phase ${phase ?? "Scheduling"}, ${why}`,
      "a controller takes it over: the feature gate WorkspaceMounts has to be on, and the server's log says more",
    );
  },
};

const answered: MountStep = {
  title: "what is mounted answers, and knows who asks",
  run: async ({ patient, name }) => {
    const path = `${patient.path}:${name}`;
    await unless(patient.ask(`${path}/api`), (error) => {
      if (error.code === 403)
        return new StepFailure(
          `it refuses: ${error.message}`,
          "it has rules of its own: allow it there to the user as whom it is asked",
        );
      return new StepFailure(
        `${error.code}: ${error.message}`,
        "see whether the target runs; what keeps it from being asked stands in the log of the server that asks it",
      );
    });
    try {
      const said = objectIn(await patient.review(path));
      const status = isJsonObject(said?.["status"]) ? said["status"] : {};
      const user = isJsonObject(status["userInfo"]) ? status["userInfo"]["username"] : undefined;
      return `as ${String(user)}${user === patient.user ? "" : `, who is ${patient.user} here`}`;
    } catch (error) {
      if (isApiError(error)) throw new Skipped(`it answers; who asks it does not tell: ${error.message}`);
      throw error;
    }
  },
};

/** Of a mounted workspace, in the one around it. */
export const MOUNT: readonly MountStep[] = [mounted, object, taken, answered];

function whyNot(conditions: unknown): string {
  const wrong = (Array.isArray(conditions) ? conditions : []).find(
    (one) => isJsonObject(one) && one["status"] === "False",
  );
  return wrong === undefined ? "" : `; ${wrong["type"]}: ${wrong["message"] ?? wrong["reason"] ?? "False"}`;
}
