import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { shellWord } from "../../process/programs.ts";
import { Dish, type Tree } from "./demo-tree.ts";
import { ACME, CLUSTER, DISHES, LAB, LINK, MENU, MOVED, SHOP } from "./names.ts";

/** A user and server for a query, with their description. */
export interface AskedAs {
  readonly who: string;
  readonly context: string;
  /** URL of the server. @default that of the context */
  readonly server?: string;
}

/** A query, as arguments of kubectl and as a call of the client. */
export interface DemoQuery {
  readonly get: readonly string[];
  readonly ask: (client: Client) => Promise<string>;
}

/** Reads a ConfigMap of the namespace `default`. */
export const configMap = (name: string): DemoQuery => ({
  get: ["configmap", name],
  ask: async (client) => {
    const { data = {} } = await client.resource(ConfigMap).in("default").get(name);
    return Object.entries(data)
      .map((entry) => entry.join("="))
      .join(" ");
  },
});

/** Runs a query as several users. Each row has the kubectl command and the answer. */
export function rows(kubeconfig: string, question: DemoQuery, ways: readonly AskedAs[]): Promise<string[]> {
  return Promise.all(ways.map((way) => row(kubeconfig, question, way)));
}

async function row(kubeconfig: string, { get, ask }: DemoQuery, { who, context, server }: AskedAs): Promise<string> {
  const at = server === undefined ? [] : ["--server", server];
  const command = ["kubectl", "--context", context, ...at, "get", ...get].map(shellWord).join(" ");
  const { upstream, cluster } = await loadKubeconfig({ file: kubeconfig, context });
  const place =
    server === undefined ? { upstream, ...(cluster && { cluster }) } : { upstream: { ...upstream, url: server } };
  await using client = new Client(place);
  return `  ${who}\n    $ ${command}\n    ${await ask(client).catch(refusal)}`;
}

/** Formats an error as kubectl does. @throws errors that are not API errors */
function refusal(error: unknown): string {
  if (!isApiError(error)) throw error;
  return `Error from server (${error.status.reason}): ${error.message}`;
}

/** Name of the view that shows the object. */
const VIEW = "published";

/** Place of the demonstration. */
export interface DemoPlace {
  readonly kubeconfig: string;
  /** URL of the server. */
  readonly url: string;
  /** Names of the served views. */
  readonly views: readonly string[];
}

const THE_MENU = configMap(MENU);

const ALL_DISHES: DemoQuery = {
  get: [DISHES],
  ask: async (client) => {
    const { items } = await client.resource(Dish).list();
    return items
      .map(({ metadata, spec }) => `${metadata.name}=${spec?.price}`)
      .sort()
      .join(" ");
  },
};

/** Shows one object, and the exported objects, as several users see them. */
export async function demoText({ kubeconfig, url, views }: DemoPlace, tree: Tree): Promise<string> {
  const through = `${url}/services/${VIEW}/clusters/${tree.shop}`;
  const asked = (question: DemoQuery, ways: readonly AskedAs[]): Promise<string[]> => rows(kubeconfig, question, ways);
  const object = await asked(THE_MENU, [
    { who: "in its workspace, as Alice", context: "alice" },
    ...(views.includes(VIEW) ? [{ who: "through a view, as Alice", context: "alice", server: through }] : []),
    { who: "as Bob, whose request is denied", context: "bob" },
  ]);
  const text = ["One object, seen three ways:", ...object, ""].join("\n");
  const { exported } = tree;
  if (exported === undefined) return text;
  const dishes = await asked(ALL_DISHES, [
    { who: "in a workspace that has bound it", context: "alice" },
    {
      who: "through its view, in all workspaces that have bound it",
      context: "alice",
      server: `${exported}/clusters/*`,
    },
    { who: "in a workspace that has not bound it", context: "alice", server: `${exported}/clusters/${tree.acme}` },
  ]);
  const mounted = tree.mounts ? await mountedSeen(url, asked) : [];
  return [
    text,
    ...mounted,
    `Exported by ${ACME} to ${SHOP} and ${LAB}, with a view at ${exported}:`,
    ...dishes,
    "",
  ].join("\n");
}

/** Reads objects through the paths of mounted workspaces. */
async function mountedSeen(
  url: string,
  asked: (question: DemoQuery, ways: readonly AskedAs[]) => Promise<string[]>,
): Promise<string[]> {
  const at = (name: string): Pick<AskedAs, "server"> => ({ server: `${url}/clusters/${ACME}:${name}` });
  const cluster = await asked(configMap("about"), [
    { who: "a cluster in a process of its own, as Alice", context: "alice", ...at(CLUSTER) },
    { who: "as Bob, whom the cluster accepts, too", context: "bob", ...at(CLUSTER) },
  ]);
  const link = await asked(THE_MENU, [{ who: `a link to ${SHOP}, as Alice`, context: "alice", ...at(LINK) }]);
  const head = `Mounted in ${ACME}, besides ${ACME}:${MOVED}, which redirects to ${LAB}:`;
  return [[head, ...cluster, ...link, ""].join("\n")];
}
