/**
 * Testing Kubernetes-style API servers: a conformance suite that anybody with a URL can run, and what the author of a
 * view needs to test one.
 *
 * @module
 */

// The conformance suite
export {
  type ConformanceDeadlines,
  type ConformanceOptions,
  type ConformanceWrites,
  type Mutations,
  matchResources,
  type ObjectName,
} from "./conformance/options.ts";
export type { FailureDetails } from "./conformance/outcome.ts";
export { type PrintOptions, printConformance } from "./conformance/print.ts";
export type { CheckOutcome, CheckResult, ConformanceReport, ConformanceResource } from "./conformance/report.ts";
export { runConformance } from "./conformance/run.ts";
export { parseSamples } from "./conformance/writing/parse-samples.ts";
// A source to test a view or a storage with
export {
  type FakeContent,
  type FakeName,
  FakeSource,
  type FakeSourceCounts,
  type FakeSourceOptions,
} from "./fake-source.ts";
export type { Credentials } from "./http/credentials.ts";
// A server to test a view on
export { startTestServer, type TestServer, type TestServerOptions } from "./server.ts";
// Providers of spaces
export { checkSpaceProvider } from "./space-provider/check-space-provider.ts";
export type { SpaceProviderCheckOptions, SpaceProviderDeadlines } from "./space-provider/options.ts";
