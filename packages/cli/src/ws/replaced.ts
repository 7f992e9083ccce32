import { known } from "./answers.ts";
import { CLUSTER_PROXIES } from "./kinds.ts";
import type { Session } from "./session.ts";

/**
 * The ClusterProxy whose cluster is entered in the place of a workspace that holds it: the oldest that says so and is served. `undefined`: there is none, or none for
 * this user to see.
 */
export async function replacing(session: Session, path: string): Promise<string | undefined> {
  const proxies = await known(session.client(path).resource(CLUSTER_PROXIES).all(session.patience));
  const ofWorkspace = (proxies?.items ?? []).filter(
    ({ spec, status }) => spec?.replacesWorkspace === true && status?.URL !== undefined,
  );
  const [oldest] = ofWorkspace.sort(
    ({ metadata: one }, { metadata: other }) =>
      order(one.creationTimestamp ?? "", other.creationTimestamp ?? "") || order(one.name ?? "", other.name ?? ""),
  );
  return oldest?.metadata.name;
}

const order = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
