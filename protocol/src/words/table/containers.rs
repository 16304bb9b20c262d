//! Containers, clusters and clouds. All of them run programs.

use crate::words::row::Effect::{Loads, Runs};
use crate::words::row::Row;

pub(super) const ROWS: &[Row] = &[
    // docker(1), podman(1), "--config", "-H", "--context", "-v", "--privileged", "--mount" …: a container may see
    // the whole machine.
    Row::of("docker podman nerdctl buildah docker-compose podman-compose")
        .launches()
        .runs(
            "--privileged --pid --cap-add --device --security-opt --userns --runtime --conmon --hooks-dir \
            --entrypoint --volume* -v --mount* --volumes-from",
        )
        .loads("--config -H --host --context -c --env-file --connection --url --module --file --project-directory")
        .writes("--iidfile --cidfile --metadata-file -o --output --log-opt* --cache-to")
        .plain("--hostname --filter --load")
        .commands(&[Row::of("context").itself(Loads)]),
    // kubectl(1), "--kubeconfig" (exec credentials), "--server", "exec", "cp", "config", "plugin", "-o" is a format
    Row::of("kubectl oc k3s microk8s minikube kind")
        .launches()
        .runs("exec cp debug attach edit plugin proxy port-forward run krew")
        .loads("--kubeconfig -s --server --token --as* --cluster --user config --profile*")
        .plain("--output")
        .commands(&[Row::of("kustomize").writes("-o")]),
    // helm(1), "--post-renderer", "--kubeconfig", "plugin"
    Row::of("helm helmfile skaffold tilt")
        .launches()
        .runs("--post-renderer* plugin -b")
        .loads("--kubeconfig --kube-*")
        .writes("-d --untardir")
        .plain("--output"),
    // kustomize(1), "-o"
    Row::of("kustomize")
        .runs("--network")
        .loads("-e --env")
        .writes("-o")
        .commands(&[Row::of("fn run cfg localize edit create").itself(Runs)]),
    // terraform: "-chdir", "-plugin-dir", "-backend-config", "-out", "-state"
    Row::of("terraform tofu terragrunt packer pulumi vagrant")
        .launches()
        .runs("--terragrunt-* -exec --exec* console")
        .loads("-chdir* -plugin-dir* -backend-config* -config*")
        .writes("-out* -state* -backup* -generate-config-out*"),
    // ansible(1), "-m", "-i" (inventories run), "-e", "--connection"
    Row::of(
        "ansible ansible-playbook ansible-galaxy ansible-console ansible-pull salt salt-call puppet \
            chef-client chef-solo knife fab capistrano",
    )
    .launches(),
    // aws(1), az, gcloud: "credential_process" and "--cli-input" in files
    Row::of("aws")
        .loads("--profile --endpoint-url --ca-bundle configure")
        .writes("--outfile")
        .plain("--output --filter --filters"),
    Row::of(
        "az gcloud gsutil doctl flyctl fly heroku vercel netlify wrangler firebase eb sam cdk serverless \
            sls",
    )
    .launches(),
    Row::of(
        "containerd ctr runc crun crictl lxc lxc-attach lxc-execute lxd incus systemd-nspawn apptainer \
            singularity toolbox distrobox flatpak snap qemu virsh",
    )
    .launches(),
];
