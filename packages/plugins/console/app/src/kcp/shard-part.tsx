import { tablePage } from "../api/table-page.ts";
import type { WholeObject } from "../object/live-object.ts";
import { routeHash, routeTo } from "../route.ts";
import { UnavailableShards } from "../ui/unavailable-shards.tsx";
import { Url } from "./copy.tsx";
import { Fact } from "./fact.tsx";
import { LOGICAL_CLUSTERS } from "./kinds.ts";
import { celText } from "./lists.ts";
import { texts } from "./texts.ts";

interface ShardSpec {
  readonly baseURL?: string;
  readonly externalURL?: string;
  readonly virtualWorkspaceURL?: string;
}

/** A shard: its URLs, and the logical clusters on it. */
export function ShardPart({ shard }: { readonly shard: WholeObject }) {
  const { name } = shard.metadata;
  const { baseURL, externalURL, virtualWorkspaceURL } = (shard["spec"] ?? {}) as ShardSpec;
  const filter = filterOf(name);
  const { total = 0, unavailable } = tablePage({ ...FIRST, filter }).value;
  const words = texts.shard;
  return (
    <dl class="facts">
      {baseURL && (
        <Fact name={words.base}>
          <Url url={baseURL} name={name} />
        </Fact>
      )}
      {externalURL && (
        <Fact name={words.external}>
          <Url url={externalURL} name={name} />
        </Fact>
      )}
      {virtualWorkspaceURL && (
        <Fact name={words.views}>
          <Url url={virtualWorkspaceURL} name={name} />
        </Fact>
      )}
      <Fact name={words.count}>
        {total === 0 && <span class="muted">{words.noCount}</span>}
        {total > 0 && (
          <>
            {total.toLocaleString("en")}{" "}
            <a href={routeHash(routeTo({ workspace: "root", resource: LOGICAL_CLUSTERS }, { all: "1", filter }))}>
              {words.show}
            </a>
          </>
        )}
        <UnavailableShards names={unavailable} />
      </Fact>
    </dl>
  );
}

const FIRST = { workspace: "*", isOverAll: true, resource: LOGICAL_CLUSTERS, offset: 0, limit: 1 } as const;

/** The logical clusters on a shard, as a filter of the table over all workspaces. */
const filterOf = (shard: string): string => `object.metadata.annotations["core.kcp.io/shard"] == ${celText(shard)}`;
