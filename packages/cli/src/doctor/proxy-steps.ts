import { isApiError } from "@virtual-workspaces/apimachinery";
import { ClusterProxy } from "@virtual-workspaces/kcp";
import { getCondition } from "@virtual-workspaces/kcp/conditions";
import { type ExaminedServer, objectIn, unless } from "./examined-server.ts";
import { type Step, StepFailure } from "./steps.ts";

/** A ClusterProxy that is examined, in the workspace of the patient. */
export interface ExaminedProxy {
  readonly patient: ExaminedServer;
  readonly name: string;
  found?: ClusterProxy;
}

type ProxyStep = Step<ExaminedProxy>;

const there: ProxyStep = {
  title: "the ClusterProxy is there",
  run: async (examined) => {
    const { patient, name } = examined;
    const found = await unless(
      patient.client().resource(ClusterProxy).get(name, patient.patience),
      (error) =>
        new StepFailure(
          error.message,
          error.code === 404
            ? "kubectl get clusterproxies shows which there are; the kind comes by an APIBinding of the export root:cluster.proxy.kcp.io"
            : "take a user who may get ClusterProxies there",
        ),
    );
    examined.found = found;
    return found.status?.phase ?? "nobody has looked at it yet";
  },
};

const served: ProxyStep = {
  title: "a hub serves it",
  run: async ({ found }) => {
    const { URL: url } = found?.status ?? {};
    if (url !== undefined) return url;
    throw new StepFailure(
      "its status says no URL",
      "its server needs the views of cluster proxies: start --batteries-included=+cluster-proxy, or a --view that has them",
    );
  },
};

const enrolled: ProxyStep = {
  title: "an agent is enrolled",
  run: async ({ found, name }) => {
    const { agent } = known(found, "IdentityValid", `virtual-workspaces agent token ${name}`);
    return `its certificate is good until ${agent?.certificateExpires ?? "an unknown time"}`;
  },
};

const connected: ProxyStep = {
  title: "its agent is connected",
  run: async ({ found }) => {
    const { agent } = known(found, "AgentConnected", "look at the agent's log: it says what keeps it");
    return `version ${agent?.version}, heard of at ${agent?.lastHeartbeatTime}`;
  },
};

const answered: ProxyStep = {
  title: "the remote cluster answers",
  run: async ({ patient, found, name }) => {
    const { pathname } = new URL(found?.status?.URL ?? patient.url);
    try {
      return String(objectIn(await patient.ask(`${pathname}/version`))?.["gitVersion"] ?? "with no version");
    } catch (error) {
      if (!isApiError(error)) throw error;
      throw new StepFailure(
        `${error.code}: ${error.message}`,
        error.code === 403
          ? `there are three who have to allow it: rules for clusterproxies/proxy ${name} here, the agent's --allow-file, and the remote cluster's own`
          : "see whether the remote cluster's API server runs, and the agent's log",
      );
    }
  },
};

/** Of a ClusterProxy, in its workspace. */
export const CLUSTER_PROXY: readonly ProxyStep[] = [there, served, enrolled, connected, answered];

/** @throws Fault when a condition is not True */
function known(found: ClusterProxy | undefined, type: string, remedy: string): NonNullable<ClusterProxy["status"]> {
  const { status = {} } = found ?? {};
  const condition = getCondition(status.conditions, type);
  if (condition?.status === "True") return status;
  const since = condition === undefined ? "" : ` since ${condition.lastTransitionTime}`;
  throw new StepFailure(`${type} is ${condition?.status ?? "not said"}${since}: ${condition?.message ?? ""}`, remedy);
}
