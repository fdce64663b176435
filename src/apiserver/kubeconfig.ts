/** The kubeconfig that clients find the resource API with. */
import { stringify } from 'yaml';

/** Where the server is and how to be let in. `ca` is PEM. */
export interface Access {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** Namespace of requests that name none; `default` when absent. */
  readonly namespace?: string;
}

/** The text of a kubeconfig with one context, `promoter`. It holds the token: keep it private. */
export const kubeconfigText = ({ url, ca, token, namespace = 'default' }: Access): string =>
  stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'promoter', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
      users: [{ name: 'promoter', user: { token } }],
      contexts: [{ name: 'promoter', context: { cluster: 'promoter', user: 'promoter', namespace } }],
      'current-context': 'promoter',
    },
    { lineWidth: 0 },
  );
