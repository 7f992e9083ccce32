import { useState } from "preact/hooks";
import { clusterOf } from "../../api/types.ts";
import { ageOf } from "../../ui/age.ts";
import { Problem } from "../../ui/problem.tsx";
import { UnavailableShards } from "../../ui/unavailable-shards.tsx";
import { useClusterPaths } from "../../workspaces/cluster-paths.ts";
import { BINDINGS } from "../kinds.ts";
import { ObjectLink, placeOf, WorkspaceLink } from "../links.tsx";
import { texts } from "../texts.ts";
import { type ExportPlace, useBindings } from "./use-bindings.ts";

interface BindingsProps extends ExportPlace {
  /** Further shards have bindings, and are not at the address of the page. */
  readonly hasOtherShards: boolean;
}

/** Rows that are shown at first. */
const FEW = 10;

/** Who has bound an export: over all workspaces, from the view of the export, and in the workspace itself. */
export function Bindings({ workspace, cluster, name, hasOtherShards }: BindingsProps) {
  const { bindings, ...found } = useBindings({ workspace, cluster, name });
  const [isLong, setLong] = useState(false);
  const words = texts.export.bindings;
  const problem = found.error ?? found.trouble;
  const shown = bindings.slice(0, isLong ? undefined : FEW);
  const pathOf = useClusterPaths(shown.map(placeOf));
  return (
    <section aria-labelledby="bindings">
      <h3 id="bindings">{words.heading}</h3>
      {problem !== undefined && <Problem error={problem} heading={words.unread(problem.code, problem.reason)} />}
      {bindings.length === 0 && problem === undefined && (
        <p class="muted">{found.isLoading ? texts.loading : words.none}</p>
      )}
      {bindings.length > 0 && (
        <div class="table-wrap">
          <table class="small-table" aria-labelledby="bindings">
            <thead>
              <tr>
                <th scope="col">{words.binding}</th>
                <th scope="col">{words.workspace}</th>
                <th scope="col">{words.phase}</th>
                <th scope="col">{words.age}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <tr key={one.metadata.uid}>
                  <th scope="row">
                    <ObjectLink workspace={pathOf(placeOf(one))} id={BINDINGS} name={one.metadata.name} />
                  </th>
                  <td>
                    <WorkspaceLink workspace={pathOf(placeOf(one))} />
                    {pathOf(placeOf(one)) !== clusterOf(one) && <span class="muted"> {clusterOf(one)}</span>}
                  </td>
                  <td>
                    <span class={`badge ${one.status?.phase === "Bound" ? "good" : "warning"}`}>
                      {one.status?.phase ?? words.noPhase}
                    </span>
                  </td>
                  <td>{ageOf(one.metadata.creationTimestamp)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {bindings.length > FEW && (
        <button type="button" class="link" aria-expanded={isLong} onClick={() => setLong(!isLong)}>
          {isLong ? words.few : words.all(bindings.length)}
        </button>
      )}
      <UnavailableShards names={found.unavailable} />
      {hasOtherShards && found.shards.length === 0 && <p class="hint">{words.otherShards}</p>}
      {found.isPartial && problem === undefined && <p class="hint">{words.partial}</p>}
    </section>
  );
}
