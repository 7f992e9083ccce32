import { useState } from "preact/hooks";
import { liveList } from "../../api/live-list.ts";
import { clusterOf, type KubernetesObject } from "../../api/types.ts";
import { ageOf } from "../../ui/age.ts";
import { Field } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useClusterPaths } from "../../workspaces/cluster-paths.ts";
import { type ApiExport, type ApiResourceSchema, type PrinterColumn, SCHEMAS } from "../kinds.ts";
import { ObjectLink, WorkspaceLink } from "../links.tsx";
import { inWorkspace } from "../lists.ts";
import { texts } from "../texts.ts";
import { pathBelowApi, viewPath } from "../view-path.ts";
import { textAt } from "./json-path.ts";

interface ViewProps {
  readonly workspace: string;
  readonly cluster: string;
  readonly object: ApiExport;
  /** Published URLs of the view, one for each shard with a binding. */
  readonly urls: readonly string[];
}

interface Served {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly isNamespaced: boolean;
  readonly columns: readonly PrinterColumn[];
}

/** The objects of all workspaces that have bound an export, through the view of the export itself. */
export function ObjectsThroughView({ workspace, cluster, object, urls }: ViewProps) {
  const schemas = inWorkspace<ApiResourceSchema>(workspace, SCHEMAS);
  const served = servedBy(object, schemas.items);
  const [chosen, setChosen] = useState("");
  const words = texts.export.view;
  const current = served.find((one) => keyOf(one) === chosen) ?? served[0];
  const own = viewPath(cluster, object.metadata.name);
  const below = [...new Set(urls.flatMap((url) => pathBelowApi(url) ?? []))];
  const elsewhere = urls.filter((url) => pathBelowApi(url) === undefined);
  // The session of the page does not count elsewhere. The server of the page may have the view, too, at least of its own shard.
  const paths = below.length === 0 && elsewhere.length > 0 ? [own] : below;
  return (
    <section aria-labelledby="view-objects">
      <h3 id="view-objects">{words.heading}</h3>
      <p class="hint">{words.hint}</p>
      {elsewhere.length > 0 && (
        <p class="object-note warning">
          {below.length === 0 ? words.elsewhere(own) : words.otherShards(elsewhere.join(", "))}
        </p>
      )}
      {served.length > 1 && (
        <Field label={words.resource}>
          {(attributes) => (
            <select
              {...attributes}
              value={current === undefined ? "" : keyOf(current)}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            >
              {served.map((one) => (
                <option key={keyOf(one)} value={keyOf(one)}>
                  {keyOf(one)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {current !== undefined &&
        paths.map((path) => <ViewTable key={`${path} ${keyOf(current)}`} path={path} served={current} />)}
    </section>
  );
}

const keyOf = ({ group, version, resource }: Served): string => `${resource}.${version}.${group}`;

/** The resources of an export with each served version. */
function servedBy(object: ApiExport, schemas: readonly ApiResourceSchema[]): readonly Served[] {
  return (object.spec?.resources ?? []).flatMap(({ group, name, schema }) => {
    const spec = schemas.find(({ metadata }) => metadata.name === schema)?.spec;
    return (spec?.versions ?? [])
      .filter(({ served }) => served === true)
      .map((version) => ({
        group,
        version: version.name,
        resource: name,
        isNamespaced: spec?.scope === "Namespaced",
        columns: (version.additionalPrinterColumns ?? []).filter(({ priority = 0, name: column }) => {
          return priority === 0 && column !== "Age";
        }),
      }));
  });
}

/** Rows that are shown. */
const MOST = 200;

function ViewTable({ path, served }: { readonly path: string; readonly served: Served }) {
  const { group, version, resource, isNamespaced, columns } = served;
  const base = group === "" ? `api/${version}` : `apis/${group}/${version}`;
  const { items, state, error, reload } = liveList<KubernetesObject>(`${path}/clusters/*/${base}/${resource}`).value;
  const shown = items.slice(0, MOST);
  const pathOf = useClusterPaths(shown.map(clusterOf));
  const words = texts.export.view;
  if (error !== undefined && items.length === 0)
    return (
      <Problem error={error} onRetry={state === "failed" ? reload : undefined} isRetrying={state === "retrying"} />
    );
  if (state === "loading" && items.length === 0) return <p class="muted">{texts.loading}</p>;
  return (
    <>
      <p class="row">
        <code>{`${path}/clusters/*/${base}/${resource}`}</code>
        {state === "live" && <span class="live">{texts.live}</span>}
        <span class="muted" role="status">
          {words.count(items.length)}
        </span>
      </p>
      {items.length > 0 && (
        <div class="table-wrap">
          <table class="small-table" aria-labelledby="view-objects">
            <thead>
              <tr>
                <th scope="col">{words.name}</th>
                <th scope="col">{words.workspace}</th>
                {isNamespaced && <th scope="col">{words.namespace}</th>}
                {columns.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                <th scope="col">{words.age}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <tr key={one.metadata.uid}>
                  <th scope="row">
                    <ObjectLink
                      workspace={pathOf(clusterOf(one))}
                      id={{ group, version, resource }}
                      name={one.metadata.name}
                      namespace={one.metadata.namespace ?? ""}
                    />
                  </th>
                  <td title={clusterOf(one)}>
                    <WorkspaceLink workspace={pathOf(clusterOf(one))} />
                  </td>
                  {isNamespaced && <td>{one.metadata.namespace}</td>}
                  {columns.map(({ name, type, jsonPath }) => (
                    <td key={name}>{type === "date" ? ageOf(textAt(one, jsonPath)) : textAt(one, jsonPath)}</td>
                  ))}
                  <td>{ageOf(one.metadata.creationTimestamp)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {items.length > MOST && <p class="hint">{texts.more(items.length - MOST)}</p>}
    </>
  );
}
