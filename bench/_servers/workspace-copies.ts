// Why: a hundred thousand workspaces take the server minutes to make, and what it makes grows with it. Here it makes one, and the
// store gets copies of all that this one has come to, whatever that is.
import type { Entry, KeyRange, Operation, Store } from "@virtual-workspaces/store";

/** Operations of a transaction, and transactions that wait for the disk together. */
const [OPERATIONS, TOGETHER] = [128, 16];
const UUID = /"uid":"([0-9a-f]{8}-[0-9a-f-]{27})"/g;
/** All keys there are: what they begin with is ASCII. */
const EVERYTHING: KeyRange = { from: "", to: "\u{10FFFF}" };

/** A workspace as its server has made it: 16 characters each, so that copies are as long. */
export interface Sample {
  /** The name of its logical cluster. */
  readonly cluster: string;
  /** Its own name. */
  readonly name: string;
}

/** A copy's name: sixteen characters, as its logical cluster's. */
export const workspaceName = (at: number): string => `w${String(at).padStart(15, "0")}`;
const clusterName = (at: number): string => `c${String(at).padStart(15, "0")}`;

/** All that there is of a workspace: what is in its logical cluster, and what leads there. */
async function entriesOf(store: Store, { cluster, name }: Sample): Promise<readonly Entry[]> {
  const { entries } = await store.range(EVERYTHING);
  const isOf = (key: string): boolean =>
    key.split("/").includes(cluster) || key === `tenancy.kcp.io/workspaces/root//${name}`;
  return entries.filter(({ key }) => isOf(key));
}

/** Copies a workspace, `count` times from number `first` on. @returns how many objects each has */
export async function copyWorkspaces(
  store: Store,
  sample: Sample,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<number> {
  const originals = (await entriesOf(store, sample)).map(({ key, value }) => ({ key, text: value.toString("latin1") }));
  const uids = originals.map(({ text }) => [...text.matchAll(UUID)][0]?.[1] ?? "").filter((uid) => uid !== "");
  const copy = (at: number): Operation[] =>
    originals.map(({ key, text }) => {
      const own = (said: string): string =>
        said.replaceAll(sample.cluster, clusterName(at)).replaceAll(sample.name, workspaceName(at));
      let value = own(text);
      for (const uid of uids) value = value.replaceAll(uid, at.toString(16).padStart(8, "0") + uid.slice(8));
      return { type: "put", key: own(key), value: Buffer.from(value, "latin1") };
    });
  const each = Math.max(1, Math.floor(OPERATIONS / originals.length));
  for (let at = first; at < first + count; ) {
    const commits: Promise<unknown>[] = [];
    while (commits.length < TOGETHER && at < first + count) {
      const operations: Operation[] = [];
      for (const end = Math.min(at + each, first + count); at < end; at++) operations.push(...copy(at));
      commits.push(store.commit({ conditions: [], operations }));
    }
    await Promise.all(commits);
  }
  // As after a night: copies stand in few revisions, and all who follow would read these again as what just happened.
  await store.compact(await store.head());
  return originals.length;
}
