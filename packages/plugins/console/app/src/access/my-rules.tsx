import { useMemo } from "preact/hooks";
import { route, setQuery } from "../route.ts";
import { Icon } from "../ui/icons.tsx";
import { Problem } from "../ui/problem.tsx";
import { TypedField } from "../ui/typed-field.tsx";
import { myRules, type Rules } from "./reviews.ts";
import { texts } from "./texts.ts";
import { useAnswer } from "./use-answer.ts";

interface Row {
  readonly resource: string;
  /** Names of the objects; empty for all. */
  readonly names: string;
  readonly verbs: string;
}

interface MyRulesProps {
  readonly workspace: string;
  readonly namespaces: readonly string[];
  /** Changes when bindings change. */
  readonly version: string;
}

/** What the user may do in a namespace of a workspace, and with its objects that are in none. */
export function MyRules({ workspace, namespaces, version }: MyRulesProps) {
  const words = texts.rules;
  const { query } = route.value;
  const namespace = query.namespace ?? "default";
  const { value, error, again } = useAnswer(`${workspace} ${namespace} ${version}`, () =>
    myRules(workspace, namespace),
  );
  const rows = useMemo(() => rowsOf(value ?? {}), [value]);
  const search = (query.search ?? "").toLowerCase();
  const shown = rows.filter((row) => Object.values(row).some((text) => text.toLowerCase().includes(search)));
  return (
    <section aria-labelledby="my-rules">
      <h2 id="my-rules">{words.heading}</h2>
      <div class="access-tools">
        <TypedField
          label={words.namespace}
          value={namespace}
          onValue={(next) => setQuery({ namespace: next === "default" ? undefined : next })}
          options={namespaces}
        />
        <TypedField
          label={words.filter}
          value={query.search ?? ""}
          onValue={(next) => setQuery({ search: next })}
          delay={200}
          isSearch
          icon={<Icon name="search" />}
        />
      </div>
      {error !== undefined && <Problem error={error} onRetry={again} />}
      {value?.incomplete === true && (
        <p class="notice" role="status">
          {words.incomplete} {value.evaluationError}
        </p>
      )}
      {value !== undefined && shown.length === 0 && (
        <p class="muted">{rows.length === 0 ? words.none : words.noneFound}</p>
      )}
      {shown.length > 0 && (
        <>
          <p class="hint">{words.shown(shown.length, rows.length)}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard */}
          <section class="access-scroll" tabIndex={0} aria-labelledby="my-rules">
            <table>
              <thead>
                <tr>
                  <th scope="col">{words.resource}</th>
                  <th scope="col">{words.verbs}</th>
                  <th scope="col">{words.names}</th>
                </tr>
              </thead>
              <tbody>
                {shown.map(({ resource, names, verbs }) => (
                  <tr key={`${resource} ${names}`}>
                    <th scope="row">{resource}</th>
                    <td>{verbs}</td>
                    <td>{names === "" ? words.allNames : names}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </section>
  );
}

/** One row for each resource and names, with the verbs of all rules, and then one for each path. */
function rowsOf({ resourceRules, nonResourceRules }: Rules): readonly Row[] {
  const verbs = new Map<string, Set<string>>();
  const add = (resource: string, names: string, more: readonly string[]) => {
    const key = `${resource}\n${names}`;
    const known = verbs.get(key) ?? new Set();
    for (const verb of more) known.add(verb);
    verbs.set(key, known);
  };
  for (const { apiGroups, resources, resourceNames, verbs: more } of resourceRules ?? [])
    for (const group of apiGroups ?? [])
      for (const resource of resources ?? []) {
        const [plural, subresource] = resource.split("/", 2);
        const of = group === "" || (group === "*" && plural === "*") ? plural : `${plural}.${group}`;
        add(`${of}${subresource === undefined ? "" : `/${subresource}`}`, (resourceNames ?? []).join(", "), more ?? []);
      }
  for (const { nonResourceURLs, verbs: more } of nonResourceRules ?? [])
    for (const path of nonResourceURLs ?? []) add(path, "", more ?? []);
  const rows = [...verbs].map(([key, all]) => {
    const [resource = "", names = ""] = key.split("\n", 2);
    return { resource, names, verbs: all.has("*") ? "*" : [...all].sort().join(", ") };
  });
  const isPath = ({ resource }: Row) => (resource.startsWith("/") ? 1 : 0);
  return rows.sort((a, b) => isPath(a) - isPath(b) || a.resource.localeCompare(b.resource, "en"));
}
