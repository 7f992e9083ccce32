import { ApiError, cloneJson, fieldInvalid, fieldRequired, nameProblems } from "@virtual-workspaces/apimachinery";
import { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import type {
  CustomResourceConversion,
  CustomResourceDefinitionLike,
  CustomResourceVersion,
} from "./custom-resource-definition.ts";

type Spec = NonNullable<APIResourceSchema["spec"]>;
type Version = Spec["versions"][number];

/**
 * The APIResourceSchema of a CustomResourceDefinition, named `<prefix>.<name>` (`kubectl kcp crd snapshot`).
 *
 * @throws ApiError 422 when that is no name, a version has no schema, several versions no conversion, or a webhook no URL
 */
export function apiResourceSchemaOf(crd: CustomResourceDefinitionLike, prefix: string): APIResourceSchema {
  const { group, names, scope, versions, conversion } = crd.spec;
  const name = `${prefix}.${crd.metadata.name ?? ""}`;
  const why = nameProblems(name);
  if (why.length > 0) throw invalid(name, fieldInvalid("metadata.name", name, why.join(",")));
  if (versions.length > 1 && conversion === undefined)
    throw invalid(name, fieldRequired("spec.conversion", "multiple versions need a conversion strategy"));
  const spec = {
    group,
    names,
    scope,
    versions: versions.map((version, at) => versionOf(version, { name, path: `spec.versions[${at}]` })),
    ...(conversion && { conversion: conversionOf(conversion, name) }),
  };
  const { version, kind } = APIResourceSchema;
  return { apiVersion: `apis.kcp.io/${version}`, kind, metadata: { name }, spec: cloneJson(spec) as Spec };
}

function versionOf(
  { schema, ...version }: CustomResourceVersion,
  { name, path }: { readonly name: string; readonly path: string },
): Version {
  if (schema?.openAPIV3Schema === undefined) throw invalid(name, fieldRequired(`${path}.schema.openAPIV3Schema`));
  return { ...version, schema: { ...schema.openAPIV3Schema } };
}

function conversionOf({ strategy, webhook }: CustomResourceConversion, name: string): object {
  if (strategy !== "Webhook" || webhook === undefined) return { strategy };
  const { clientConfig, conversionReviewVersions } = webhook;
  const path = "spec.conversion.webhook.clientConfig";
  if (clientConfig?.service !== undefined)
    throw invalid(name, fieldInvalid(`${path}.service`, clientConfig.service, "services are not supported, use url"));
  if (clientConfig !== undefined && clientConfig.url === undefined) throw invalid(name, fieldRequired(`${path}.url`));
  const { url, caBundle } = clientConfig ?? {};
  const config = clientConfig && { clientConfig: { url, ...(caBundle === undefined ? {} : { caBundle }) } };
  return { strategy, webhook: { ...config, conversionReviewVersions } };
}

function invalid(name: string, cause: ReturnType<typeof fieldInvalid>): ApiError {
  return ApiError.invalid({ kind: APIResourceSchema, name, causes: [cause] });
}
