import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { shellWord } from "../../process/programs.ts";
import { Dish, type Tree } from "./demo-tree.ts";
import { ACME, CLUSTER, DISHES, LAB, LINK, MENU, MOVED, SHOP } from "./names.ts";

/** Who asks where, and what is answered. */
export interface AskedAs {
  readonly who: string;
  readonly context: string;
  /** @default that of the context */
  readonly server?: string;
}

/** What is asked: as kubectl is told, and as we do. */
export interface DemoQuery {
  readonly get: readonly string[];
  readonly ask: (client: Client) => Promise<string>;
}

/** What is in a ConfigMap of the namespace `default`. */
export const configMap = (name: string): DemoQuery => ({
  get: ["configmap", name],
  ask: async (client) => {
    const { data = {} } = await client.resource(ConfigMap).in("default").get(name);
    return Object.entries(data)
      .map((entry) => entry.join("="))
      .join(" ");
  },
});

/** A question, as it is answered to whom: each with the command that asks it. */
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

/** As kubectl says it. @throws what is no answer */
function refusal(error: unknown): string {
  if (!isApiError(error)) throw error;
  return `Error from server (${error.status.reason}): ${error.message}`;
}

/** The view that shows the object, by its name. */
const VIEW = "published";

/** Where the demonstration is. */
export interface DemoPlace {
  readonly kubeconfig: string;
  /** Of the server. */
  readonly url: string;
  /** The names of the views that are served. */
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

/** One object, and what is exported, as they are answered to whom. */
export async function demoText({ kubeconfig, url, views }: DemoPlace, tree: Tree): Promise<string> {
  const through = `${url}/services/${VIEW}/clusters/${tree.shop}`;
  const asked = (question: DemoQuery, ways: readonly AskedAs[]): Promise<string[]> => rows(kubeconfig, question, ways);
  const object = await asked(THE_MENU, [
    { who: "in its workspace, as Alice", context: "alice" },
    ...(views.includes(VIEW) ? [{ who: "through a view, as Alice", context: "alice", server: through }] : []),
    { who: "as Bob, who is refused", context: "bob" },
  ]);
  const text = ["One object, seen three ways:", ...object, ""].join("\n");
  const { exported } = tree;
  if (exported === undefined) return text;
  const dishes = await asked(ALL_DISHES, [
    { who: "in one that has bound it", context: "alice" },
    { who: "through its view, in all that have bound it", context: "alice", server: `${exported}/clusters/*` },
    { who: "in one that has not", context: "alice", server: `${exported}/clusters/${tree.acme}` },
  ]);
  const mounted = tree.mounts ? await mountedSeen(url, asked) : [];
  return [
    text,
    ...mounted,
    `What ${ACME} exports to ${SHOP} and ${LAB}, and its view at ${exported}:`,
    ...dishes,
    "",
  ].join("\n");
}

/** What is behind mounts, by the paths of the workspaces that are mounted. */
async function mountedSeen(
  url: string,
  asked: (question: DemoQuery, ways: readonly AskedAs[]) => Promise<string[]>,
): Promise<string[]> {
  const at = (name: string): Pick<AskedAs, "server"> => ({ server: `${url}/clusters/${ACME}:${name}` });
  const cluster = await asked(configMap("about"), [
    { who: "a cluster in a process of its own, as Alice", context: "alice", ...at(CLUSTER) },
    { who: "as Bob, whom it lets in as well", context: "bob", ...at(CLUSTER) },
  ]);
  const link = await asked(THE_MENU, [{ who: `a link to ${SHOP}, as Alice`, context: "alice", ...at(LINK) }]);
  const head = `What is mounted in ${ACME}, besides ${ACME}:${MOVED}, which sends who asks on to ${LAB}:`;
  return [[head, ...cluster, ...link, ""].join("\n")];
}
