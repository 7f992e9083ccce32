import { clusterOf } from "../api/types.ts";
import type { WholeObject } from "../object/live-object.ts";
import { ageOf } from "../ui/age.ts";
import { Problem } from "../ui/problem.tsx";
import type { TypeReference } from "../workspaces/workspace.ts";
import { Phase } from "./binding/binding-part.tsx";
import { Fact } from "./fact.tsx";
import { EXPORTS, LOGICAL_CLUSTERS, TYPES, type Waiting, type WorkspaceType } from "./kinds.ts";
import { ObjectLink, placeOf, WorkspaceLink } from "./links.tsx";
import { celText, everywhere } from "./lists.ts";
import { texts } from "./texts.ts";
import { UrlsPart } from "./urls-part.tsx";

interface TypePartProps {
  readonly workspace: string;
  readonly type: WholeObject;
}

/** A WorkspaceType: what its workspaces get and wait for, and where they may be. */
export function TypePart({ workspace, type }: TypePartProps) {
  const { spec = {}, metadata } = type as unknown as WorkspaceType;
  const words = texts.type;
  const own = `${clusterOf(type) || workspace}:${metadata.name}`;
  const { initializer = false, terminator = false, defaultChildWorkspaceType: child } = spec;
  return (
    <>
      <dl class="facts">
        <Fact name={words.initializer}>{initializer ? <code>{own}</code> : words.no}</Fact>
        <Fact name={words.terminator}>{terminator ? <code>{own}</code> : words.no}</Fact>
        <Fact name={words.extends}>
          <Types types={spec.extend?.with} workspace={workspace} none={words.nothing} />
        </Fact>
        <Fact name={words.parents}>
          <Types
            types={spec.limitAllowedParents?.types}
            workspace={workspace}
            none={spec.limitAllowedParents?.none === true ? words.noParents : words.all}
          />
        </Fact>
        <Fact name={words.children}>
          <Types
            types={spec.limitAllowedChildren?.types}
            workspace={workspace}
            none={spec.limitAllowedChildren?.none === true ? words.noChildren : words.all}
          />
        </Fact>
        <Fact name={words.defaultChild}>
          <Types types={child === undefined ? [] : [child]} workspace={workspace} none={words.nothing} />
        </Fact>
        <Fact name={words.bindings}>
          <DefaultBindings bindings={spec.defaultAPIBindings ?? []} workspace={workspace} />
        </Fact>
      </dl>
      {initializer && <WaitingFor own={own} part="initializers" view="initializingworkspaces" />}
      {terminator && <WaitingFor own={own} part="terminators" view="terminatingworkspaces" />}
      <UrlsPart object={type} />
    </>
  );
}

interface TypesProps {
  readonly types: readonly TypeReference[] | undefined;
  readonly workspace: string;
  readonly none: string;
}

function Types({ types = [], workspace, none }: TypesProps) {
  if (types.length === 0) return <span class="muted">{none}</span>;
  return (
    <ul>
      {types.map(({ name, path = workspace }) => (
        <li key={`${path}:${name}`}>
          <ObjectLink workspace={path} id={TYPES} name={name} /> <span class="muted">{path}</span>
        </li>
      ))}
    </ul>
  );
}

interface DefaultBindingsProps {
  readonly bindings: readonly { readonly path?: string; readonly export: string }[];
  readonly workspace: string;
}

function DefaultBindings({ bindings, workspace }: DefaultBindingsProps) {
  if (bindings.length === 0) return <span class="muted">{texts.type.nothing}</span>;
  return (
    <ul>
      {bindings.map(({ path = workspace, export: name }) => (
        <li key={`${path}:${name}`}>
          <ObjectLink workspace={path} id={EXPORTS} name={name} /> <span class="muted">{path}</span>
        </li>
      ))}
    </ul>
  );
}

interface WaitingProps {
  /** Name of the initializer or terminator. */
  readonly own: string;
  readonly part: "initializers" | "terminators";
  /** View of those who act for it. */
  readonly view: string;
}

/** The workspaces that wait for an initializer or a terminator: those that the user may list, and those of the view. */
function WaitingFor({ own, part, view }: WaitingProps) {
  const found = everywhere<Waiting>(LOGICAL_CLUSTERS, {
    filter: `${part === "terminators" ? "has(object.metadata.deletionTimestamp) && " : ""}has(object.status.${part}) && ${celText(own)} in object.status.${part}`,
    others: [`services/${view}/${own}/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters`],
  });
  const words = texts.type.waiting;
  const waiting = found.items.filter(({ metadata, status }) => {
    // Terminators are there from the beginning, and count when the workspace is being deleted.
    if (part === "terminators" && metadata.deletionTimestamp === undefined) return false;
    return status?.[part]?.includes(own) === true;
  });
  return (
    <section aria-labelledby={`waiting-${part}`}>
      <h3 id={`waiting-${part}`}>{words.heading[part]}</h3>
      {found.error !== undefined && <Problem error={found.error} />}
      {waiting.length === 0 && found.error === undefined && (
        <p class="muted">{found.isLoading ? texts.loading : words.none}</p>
      )}
      {waiting.length > 0 && (
        <div class="table-wrap">
          <table class="small-table" aria-labelledby={`waiting-${part}`}>
            <thead>
              <tr>
                <th scope="col">{words.workspace}</th>
                <th scope="col">{words.phase}</th>
                <th scope="col">{words.all[part]}</th>
                <th scope="col">{words.age}</th>
              </tr>
            </thead>
            <tbody>
              {waiting.map((one) => (
                <tr key={one.metadata.uid}>
                  <th scope="row">
                    <WorkspaceLink workspace={placeOf(one)} />
                  </th>
                  <td>
                    <Phase phase={one.status?.phase} />
                  </td>
                  <td>{(one.status?.[part] ?? []).join(", ")}</td>
                  <td>{ageOf(one.metadata.creationTimestamp)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
