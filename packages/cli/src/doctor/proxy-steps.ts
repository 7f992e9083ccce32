import { isApiError } from "@virtual-workspaces/apimachinery";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { objectIn } from "../process/json-object.ts";
import { type ExaminedServer, unless } from "./examined-server.ts";
import { type Step, StepFailure } from "./steps.ts";
import { meantObject } from "./suggest.ts";

/** A ClusterProxy to examine, in the workspace of `patient`. */
export interface ExaminedProxy {
  readonly patient: ExaminedServer;
  readonly name: string;
  found?: ClusterProxy;
}

type ProxyStep = Step<ExaminedProxy>;

const there: ProxyStep = {
  title: "the ClusterProxy exists",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(
      patient.client().resource(ClusterProxy).get(name, patient.patience),
      async (error) =>
        new StepFailure(
          error.message,
          error.code === 404
            ? `${await meantObject(patient, name, { of: "clusterproxies" })}list them with kubectl get clusterproxies; an APIBinding of the export root:cluster.proxy.kcp.io provides the kind`
            : "use a user who may get ClusterProxies in this workspace",
        ),
    );
    examined.found = found;
    return found.status?.phase ?? "no controller has reconciled it yet";
  },
};

const served: ProxyStep = {
  title: "a hub serves it",
  run: async ({ found }) => {
    const { URL: url } = found?.status ?? {};
    if (url !== undefined) return url;
    throw new StepFailure(
      "its status has no URL",
      "its server needs the views of cluster proxies: use start --batteries-included=+cluster-proxy, or a --view that has them",
    );
  },
};

const enrolled: ProxyStep = {
  title: "an agent is enrolled",
  run: async ({ found, name }) => {
    const { agent } = known(found, "IdentityValid", `virtual-workspaces agent token ${name}`);
    return `its certificate is valid until ${agent?.certificateExpires ?? "an unknown time"}`;
  },
};

const connected: ProxyStep = {
  title: "its agent is connected",
  run: async ({ found }) => {
    const { agent } = known(found, "AgentConnected", "read the agent's log for the reason");
    return `version ${agent?.version}, last heartbeat ${agent?.lastHeartbeatTime}`;
  },
};

const answered: ProxyStep = {
  title: "the remote cluster answers",
  run: async ({ patient, found, name }) => {
    const { pathname } = new URL(found?.status?.URL ?? patient.url);
    try {
      return String(objectIn(await patient.ask(`${pathname}/version`))?.["gitVersion"] ?? "without a version");
    } catch (error) {
      if (!isApiError(error)) throw error;
      throw new StepFailure(
        `${error.code}: ${error.message}`,
        error.code === 403
          ? `three parties must allow the request: rules for clusterproxies/proxy ${name} here, the agent's --allow-file, and the remote cluster`
          : "check that the remote cluster's API server runs, and read the agent's log",
      );
    }
  },
};

/** Steps for a ClusterProxy, in its workspace. */
export const CLUSTER_PROXY: readonly ProxyStep[] = [there, served, enrolled, connected, answered];

/** Returns the status. @throws StepFailure when the condition is not True */
function known(found: ClusterProxy | undefined, type: string, remedy: string): NonNullable<ClusterProxy["status"]> {
  const { status = {} } = found ?? {};
  const condition = getCondition(status.conditions, type);
  if (condition?.status === "True") return status;
  const since = condition === undefined ? "" : ` since ${condition.lastTransitionTime}`;
  throw new StepFailure(`${type} is ${condition?.status ?? "not set"}${since}: ${condition?.message ?? ""}`, remedy);
}
