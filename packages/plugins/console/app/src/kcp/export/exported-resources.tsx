import { type ApiExport, type ApiResourceSchema, SCHEMAS, type SchemaVersion } from "../kinds.ts";
import { ObjectLink } from "../links.tsx";
import { inWorkspace } from "../lists.ts";
import { texts } from "../texts.ts";

/** The resources of an export, with their schemas. */
export function ExportedResources({ workspace, object }: { readonly workspace: string; readonly object: ApiExport }) {
  const resources = object.spec?.resources ?? [];
  const schemas = inWorkspace<ApiResourceSchema>(workspace, SCHEMAS);
  const words = texts.export.resources;
  return (
    <section aria-labelledby="exported">
      <h3 id="exported">{words.heading}</h3>
      {resources.length === 0 && <p class="muted">{words.none}</p>}
      {resources.length > 0 && (
        <div class="table-wrap">
          <table class="small-table" aria-labelledby="exported">
            <thead>
              <tr>
                <th scope="col">{words.resource}</th>
                <th scope="col">{words.kind}</th>
                <th scope="col">{words.scope}</th>
                <th scope="col">{words.versions}</th>
                <th scope="col">{words.columns}</th>
                <th scope="col">{words.schema}</th>
              </tr>
            </thead>
            <tbody>
              {resources.map(({ group, name, schema }) => {
                const spec = schemas.items.find(({ metadata }) => metadata.name === schema)?.spec;
                return (
                  <tr key={`${group}/${name}`}>
                    <th scope="row">
                      {name}
                      {group !== "" && (
                        <>
                          <wbr />.{group}
                        </>
                      )}
                    </th>
                    <td>{spec?.names?.kind}</td>
                    <td>{spec?.scope}</td>
                    <td>{(spec?.versions ?? []).map(textOfVersion).join(", ")}</td>
                    <td>{columnsOf(spec?.versions ?? [])}</td>
                    <td>
                      <ObjectLink workspace={workspace} id={SCHEMAS} name={schema} />
                      {spec === undefined && schemas.state === "live" && <p class="error">{words.missing}</p>}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {schemas.state === "failed" && <p class="hint">{words.unread(schemas.error?.message ?? "")}</p>}
    </section>
  );
}

function textOfVersion({ name, served = false, storage = false, deprecated = false }: SchemaVersion): string {
  const words = texts.export.resources;
  const marks = [
    ...(served ? [] : [words.notServed]),
    ...(storage ? [words.storage] : []),
    ...(deprecated ? [words.deprecated] : []),
  ];
  return marks.length === 0 ? name : `${name} (${marks.join(", ")})`;
}

const columnsOf = (versions: readonly SchemaVersion[]): string =>
  [...new Set(versions.flatMap((one) => (one.additionalPrinterColumns ?? []).map(({ name }) => name)))].join(", ");
