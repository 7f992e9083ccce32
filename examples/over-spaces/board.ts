// A board of what is announced in any space: the ConfigMap `board` beside the Spaces has a line for each ConfigMap that is labelled as a notice in
// any of them, whoever provides it. Spaces may come, go and be away; a line goes when its notice, or its space, is known to be gone.
//
//   KUBECONFIG=admin.kubeconfig node board.ts      its current context is where the Spaces are
import { once } from "node:events";
import { followSpaces } from "@virtual-workspaces/spaces";
import {
  Client,
  controller,
  Informer,
  type KindReference,
  type ObjectKey,
  related,
} from "@virtual-workspaces/workspaces";

interface Data {
  readonly data?: Readonly<Record<string, string>>;
}
const scope = "Namespaced";
const ConfigMap: KindReference<Data> = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope };
const NOTICE = "board.example.dev/notice";
const BOARD = "board";
/** How long a space that is away keeps its lines before it is looked at again, ms. */
const AWAY = 5000;

/** A line is called after its notice: `_` is in the name of none. */
const lineOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster.replace("/", "_")}_${namespace}_${name}`;
function keyOf(line: string): ObjectKey {
  const [provider, space, namespace = "", name = ""] = line.split("_");
  return { cluster: `${provider}/${space}`, namespace, name };
}

const onError = ({ error, space }: { readonly error: unknown; readonly space?: string }): void =>
  console.error(space ?? "", String(error));

await using client = await Client.fromKubeconfig();
const own = client.resource(ConfigMap).in("default");
await own.apply({ metadata: { name: BOARD } }, { force: true });
await using boards = new Informer({ resource: own, fields: `metadata.name=${BOARD}` }).start();
await using spaces = followSpaces({ client, onError });
await using informers = spaces.informers({
  informers: {
    notices: (space) => new Informer({ resource: space.client.resource(ConfigMap), labels: NOTICE }).start(),
  },
});
const { notices } = informers.sources;

/** Whether it is known that something is not there: not while its space cannot be read. */
function isGone({ cluster }: ObjectKey): boolean {
  const isThere = spaces.states.some(({ name }) => name === cluster);
  return !isThere || informers.statuses.some(({ space, synced }) => space === cluster && synced);
}

async function write(key: ObjectKey, text: string | null, signal: AbortSignal): Promise<void> {
  const line = lineOf(key);
  if ((boards.store.get({ namespace: "default", name: BOARD })?.data?.[line] ?? null) === text) return;
  await own.mergePatch(BOARD, { data: { [line]: text } }, { signal });
}

await using _running = controller({
  name: BOARD,
  // Lines are reasons to look as well: their notices may have gone while nobody ran this.
  sources: [{ informer: notices }, related(boards, ({ data = {} }) => Object.keys(data).map(keyOf))],
  reconcile: async (key, { object: notice, signal }) => {
    if (notice === undefined && !isGone(key)) return { requeueAfter: AWAY };
    await write(key, notice?.data?.["text"] ?? null, signal);
    return {};
  },
  gone: (key, { signal }) => write(key, null, signal),
  onError,
});
await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
