import { useEffect, useState } from "preact/hooks";
import { queryPath, resourcePath } from "../api/base.ts";
import { request } from "../api/client.ts";
import type { List } from "../api/types.ts";
import type { WholeObject } from "../object/live-object.ts";
import { Url } from "./copy.tsx";
import { Fact } from "./fact.tsx";
import { LOGICAL_CLUSTERS } from "./kinds.ts";
import { texts } from "./texts.ts";

interface ShardSpec {
  readonly baseURL?: string;
  readonly externalURL?: string;
  readonly virtualWorkspaceURL?: string;
}

/** A shard: its URLs, and how many logical clusters are on it. */
export function ShardPart({ shard }: { readonly shard: WholeObject }) {
  const { name } = shard.metadata;
  const { baseURL, externalURL, virtualWorkspaceURL } = (shard["spec"] ?? {}) as ShardSpec;
  const count = useCount(name);
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
      <Fact name={words.count}>{count ?? <span class="muted">{words.noCount}</span>}</Fact>
    </dl>
  );
}

/** Number of logical clusters on a shard that the user may list, once: a query of the index, without the objects. */
function useCount(shard: string): string | undefined {
  const [count, setCount] = useState<string>();
  useEffect(() => {
    const stop = new AbortController();
    const filter = `object.metadata.annotations["core.kcp.io/shard"] == ${JSON.stringify(shard)}`;
    const path = `${queryPath("*")}/${resourcePath(LOGICAL_CLUSTERS)}`;
    request<List<unknown>>(path, { parameters: { limit: 1, filter }, signal: stop.signal }).then(
      ({ metadata }) => {
        // A query has the logical clusters of the shard that answers it: none of another one.
        if (metadata.query !== undefined && metadata.query.total > 0)
          setCount(metadata.query.total.toLocaleString("en"));
      },
      () => undefined,
    );
    return () => stop.abort();
  }, [shard]);
  return count;
}
