/**
 * Tests for Kubernetes-style API servers: a conformance suite that runs against any URL, and the tools to test a view.
 *
 * @module
 */

export type { FailureDetails } from "./assertions/expect.ts";
export type { CheckOutcome, CheckResult, ConformanceReport, ConformanceResource } from "./assertions/report.ts";
export { type CleanOptions, type CleanReport, cleanConformance } from "./conformance/clean.ts";
export { type PrintOptions, printConformance } from "./conformance/print.ts";
export { runConformance } from "./conformance/run.ts";
// A source to test a view or a storage with
export {
  type FakeContent,
  type FakeName,
  FakeSource,
  type FakeSourceCounts,
  type FakeSourceOptions,
} from "./fake-source.ts";
export type { Credentials } from "./http/credentials.ts";
// The conformance suite
export {
  type ConformanceDeadlines,
  type ConformanceOptions,
  type ConformanceWrites,
  type Mutations,
  matchResources,
  type ObjectName,
} from "./probe/options.ts";
// A server to test a view on
export { startTestServer, type TestServer, type TestServerOptions } from "./server.ts";
// Checks of space providers
export { checkSpaceProvider } from "./space-provider/check-space-provider.ts";
export type { SpaceProviderCheckOptions, SpaceProviderDeadlines } from "./space-provider/provider-options.ts";
export { parseSamples } from "./writing/samples.ts";
export { newRun } from "./writing/writer.ts";
