import {
  allow,
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type VirtualWorkspace,
  type WorkspaceRequest,
} from "@virtual-workspaces/framework";
import { pathInfo, type RequestInfo } from "@virtual-workspaces/framework/request";

/** Path of views that can be combined: a URL must mean the same in each. */
const COMMON_PATH = "/clusters/:cluster";

/**
 * Returns one view that serves the resources of all views, so that one URL and one kubeconfig context show everything. Each
 * view's own `authorize` decides about its resources. A view that denies discovery is left out; if all do, the denial has their
 * reasons. If two views serve the same group, version and resource, the first one does.
 *
 * @returns `undefined` when no view has the common path and resources
 */
export function unionOf(name: string, views: readonly VirtualWorkspace[]): VirtualWorkspace | undefined {
  const members = views.filter(
    // Only a view with `locate` knows what its paths mean.
    ({ path, resources, locate }) => path === COMMON_PATH && resources !== undefined && locate === undefined,
  );
  if (members.length === 0) return undefined;
  // Serves the resources that `authorize` decided about: views may return others when called again.
  const decided = new WeakMap<AbortSignal, readonly Share[]>();
  return defineVirtualWorkspace({
    name,
    path: COMMON_PATH,
    ready: async (context) => {
      await Promise.all(members.map((member) => member.ready?.(context)));
    },
    authorize: async (request) => {
      const { shares, reasons } = await sharesOf(members, request);
      decided.set(request.signal, shares);
      const owner = request.isResource ? ownerOf(shares, request) : undefined;
      if (owner !== undefined) return owner.authorize(request);
      // Allowed, so that the answer to a resource that no view serves is 404.
      return shares.length > 0 ? allow() : deny(reasons.length > 0 ? reasons.join("; ") : "no view allows it");
    },
    resources: async (request) => {
      const shares = decided.get(request.signal) ?? (await sharesOf(members, request)).shares;
      decided.delete(request.signal);
      return unique(shares.flatMap(({ resources }) => resources));
    },
  });
}

function ownerOf(shares: readonly Share[], request: RequestInfo): VirtualWorkspace | undefined {
  const wanted = `${request.group}/${request.version}/${request.resource}:${request.identity}`;
  return shares.find(({ resources }) => resources.some((served) => nameOf(served) === wanted))?.member;
}

type Request = WorkspaceRequest<Readonly<Record<string, string>>>;

/** A view whose resources the caller may discover. */
interface Share {
  readonly member: VirtualWorkspace;
  readonly resources: readonly ServedResource[];
}

interface Shares {
  readonly shares: readonly Share[];
  /** Distinct reasons of the views that deny discovery. */
  readonly reasons: readonly string[];
}

async function sharesOf(members: readonly VirtualWorkspace[], request: Request): Promise<Shares> {
  const answers = await Promise.all(members.map((member) => shareOf(member, request)));
  const reasons = answers.filter((one) => typeof one === "string");
  return {
    shares: answers.filter((one) => typeof one !== "string"),
    reasons: [...new Set(reasons)].filter((reason) => reason !== ""),
  };
}

/** Returns the caller's share of a view, or the reason why there is none. */
async function shareOf(member: VirtualWorkspace, { user, params, signal }: Request): Promise<Share | string> {
  const decision = await member.authorize({ user, params, signal, ...DISCOVERY });
  if (!decision.allowed) return decision.reason;
  const { resources = [] } = member;
  return { member, resources: typeof resources === "function" ? await resources({ user, params, signal }) : resources };
}

/** Request for the resources of a view. */
export const DISCOVERY = pathInfo("get", "/apis");

function unique(resources: readonly ServedResource[]): readonly ServedResource[] {
  const byName = new Map<string, ServedResource>();
  for (const resource of resources) {
    const name = nameOf(resource);
    if (!byName.has(name)) byName.set(name, resource);
  }
  return [...byName.values()];
}

function nameOf({ definition, identity }: ServedResource): string {
  return `${definition.group}/${definition.version}/${definition.plural}:${identity}`;
}

/**
 * kcp's LogicalCluster, as far as the console reads it. `@virtual-workspaces/kcp` has the whole kind, but its import would make each
 * reload a fifth of a second slower.
 */
const LogicalCluster = defineResource({
  group: "core.kcp.io",
  version: "v1alpha1",
  kind: "LogicalCluster",
  scope: "Cluster",
  description: "The views of virtual-workspaces dev, as a workspace. The object is another one after each reload.",
  status: { type: "object", properties: { phase: { type: "string", description: "Phase of the logical cluster." } } },
  columns: { Phase: ".status.phase" },
});

/**
 * Returns the resources of all views where workspaces are on other servers, `/clusters/<name>`, so that the console shows them as those
 * of the workspace `root`. Each view's own `authorize` decides about its resources.
 *
 * @returns `undefined` when a view is at that path itself
 */
export function rootWorkspace(name: string, views: readonly VirtualWorkspace[]): VirtualWorkspace | undefined {
  const isTaken = views.some(
    ({ prefix }) => prefix === "/" || prefix === "/clusters" || prefix?.startsWith("/clusters/"),
  );
  if (isTaken) return undefined;
  const objects = LogicalCluster.collection();
  objects.in("root").set("cluster", {}, { annotations: { "kcp.io/path": "root" } });
  objects.in("root").setStatus("cluster", { phase: "Ready" });
  const own = defineVirtualWorkspace({
    name,
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: [LogicalCluster.serve(objects, { verbs: ["get", "list", "watch"] })],
  });
  const all = unionOf(name, [...views.map(leftOutUntilReady), own]);
  return all && { ...all, prefix: "/clusters", path: "/:cluster" };
}

/** How long the result of a `ready` hook counts, ms. */
const READY_FOR = 1_000;

/** Returns the view as one that denies everything until its `ready` hook passes: one view does not keep the others waiting. */
function leftOutUntilReady(view: VirtualWorkspace): VirtualWorkspace {
  const { ready, ...rest } = view;
  if (ready === undefined) return view;
  let known: { readonly at: number; readonly result: Promise<boolean> } | undefined;
  const isReady = async (): Promise<boolean> => {
    try {
      await ready({ signal: AbortSignal.timeout(READY_FOR) });
      return true;
    } catch {
      return false;
    }
  };
  return {
    ...rest,
    authorize: async (question) => {
      if (known === undefined || performance.now() - known.at > READY_FOR)
        known = { at: performance.now(), result: isReady() };
      return (await known.result) ? view.authorize(question) : deny(`the view ${view.name} is not ready`);
    },
  };
}
