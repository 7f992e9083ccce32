import { configMap, type Question, rows, type Way } from "./asked.ts";
import { Dish } from "./export.ts";
import { ACME, CLUSTER, DISHES, LAB, LINK, MENU, MOVED, SHOP } from "./place.ts";
import type { Tree } from "./tree.ts";

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

const ALL_DISHES: Question = {
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
export async function seen({ kubeconfig, url, views }: DemoPlace, tree: Tree): Promise<string> {
  const through = `${url}/services/${VIEW}/clusters/${tree.shop}`;
  const asked = (question: Question, ways: readonly Way[]): Promise<string[]> => rows(kubeconfig, question, ways);
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
  asked: (question: Question, ways: readonly Way[]) => Promise<string[]>,
): Promise<string[]> {
  const at = (name: string): Pick<Way, "server"> => ({ server: `${url}/clusters/${ACME}:${name}` });
  const cluster = await asked(configMap("about"), [
    { who: "a cluster in a process of its own, as Alice", context: "alice", ...at(CLUSTER) },
    { who: "as Bob, whom it lets in as well", context: "bob", ...at(CLUSTER) },
  ]);
  const link = await asked(THE_MENU, [{ who: `a link to ${SHOP}, as Alice`, context: "alice", ...at(LINK) }]);
  const head = `What is mounted in ${ACME}, besides ${ACME}:${MOVED}, which sends who asks on to ${LAB}:`;
  return [[head, ...cluster, ...link, ""].join("\n")];
}
