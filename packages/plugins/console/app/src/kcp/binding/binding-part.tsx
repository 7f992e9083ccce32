import { type Discovery, discovery } from "../../api/discovery.ts";
import { isMounted } from "../../workspaces/mounted.ts";
import { Fact } from "../fact.tsx";
import { type ApiBinding, EXPORTS, SCHEMAS } from "../kinds.ts";
import { ObjectLink, TableLink, WorkspaceLink } from "../links.tsx";
import { texts } from "../texts.ts";
import { BindingClaims } from "./binding-claims.tsx";

/** An APIBinding: what it binds, from where, and which claims it accepts. */
export function BindingPart({ workspace, object }: { readonly workspace: string; readonly object: ApiBinding }) {
  const { spec, status, metadata } = object;
  const reference = spec?.reference?.export;
  const from = reference?.path || status?.apiExportClusterName || workspace;
  // Below a mount, the path is one of another server.
  const mounted = isMounted(workspace) !== false;
  const words = texts.binding;
  return (
    <>
      <dl class="facts">
        <Fact name={words.phase}>
          <Phase phase={status?.phase} />
        </Fact>
        <Fact name={words.export}>
          {reference !== undefined &&
            (mounted ? (
              <bdi>{reference.name}</bdi>
            ) : (
              <ObjectLink workspace={from} id={EXPORTS} name={reference.name} />
            ))}
        </Fact>
        <Fact name={words.workspace}>
          {mounted ? <bdi>{from}</bdi> : <WorkspaceLink workspace={from} />}{" "}
          {status?.apiExportClusterName !== undefined && status.apiExportClusterName !== from && (
            <span class="muted">{status.apiExportClusterName}</span>
          )}
        </Fact>
      </dl>
      <BoundResources workspace={workspace} from={from} object={object} />
      <BindingClaims workspace={workspace} name={metadata.name} object={object} />
    </>
  );
}

export function Phase({ phase }: { readonly phase: string | undefined }) {
  if (phase === undefined || phase === "") return <span class="badge">{texts.binding.noPhase}</span>;
  return <span class={`badge ${phase === "Bound" || phase === "Ready" ? "good" : "warning"}`}>{phase}</span>;
}

interface BoundProps {
  readonly workspace: string;
  /** Workspace of the export, with the schemas. */
  readonly from: string;
  readonly object: ApiBinding;
}

function BoundResources({ workspace, from, object }: BoundProps) {
  const bound = object.status?.boundResources ?? [];
  const found = discovery(workspace).value;
  const words = texts.binding.resources;
  return (
    <section aria-labelledby="bound">
      <h3 id="bound">{words.heading}</h3>
      {bound.length === 0 && <p class="muted">{words.none}</p>}
      {bound.length > 0 && (
        <div class="table-wrap">
          <table class="small-table" aria-labelledby="bound">
            <thead>
              <tr>
                <th scope="col">{words.resource}</th>
                <th scope="col">{words.versions}</th>
                <th scope="col">{words.schema}</th>
              </tr>
            </thead>
            <tbody>
              {bound.map(({ group, resource, schema, storageVersions = [] }) => (
                <tr key={`${group}/${resource}`}>
                  <th scope="row">
                    <BoundResource workspace={workspace} found={found} group={group} resource={resource} />
                  </th>
                  <td>{storageVersions.join(", ")}</td>
                  <td>
                    {schema?.name !== undefined &&
                      (isMounted(workspace) === false ? (
                        <ObjectLink workspace={from} id={SCHEMAS} name={schema.name} />
                      ) : (
                        <bdi>{schema.name}</bdi>
                      ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface BoundResourceProps {
  readonly workspace: string;
  readonly found: Discovery;
  readonly group: string;
  readonly resource: string;
  readonly onFollow?: () => void;
}

/** A bound resource, which leads to its objects once the workspace serves it. */
export function BoundResource({ workspace, found, group, resource, onFollow }: BoundResourceProps) {
  const served = found.resources.find((one) => one.group === group && one.resource === resource && one.isPreferred);
  const text = group === "" ? resource : `${resource}.${group}`;
  return served === undefined ? (
    <bdi>{text}</bdi>
  ) : (
    <TableLink workspace={workspace} id={served} text={text} onFollow={onFollow} />
  );
}
