// A design loop through the published proto alone, with stubs made by protoc-gen-go and protoc-gen-go-grpc.
//
//	loop SERVER      with SERVER as host:port
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	v1 "contract/gen/fidelio/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const model = "models/contract-go"

func check(truth bool, format string, arguments ...any) {
	if !truth {
		fmt.Fprintf(os.Stderr, "contract: go: "+format+"\n", arguments...)
		os.Exit(1)
	}
}

func must[Answer any](answer Answer, err error) Answer {
	check(err == nil, "%v", err)
	return answer
}

// expect: the detail of type Detail of an error with this code.
func expect[Detail any](code codes.Code, err error) Detail {
	check(status.Code(err) == code, "%v instead of %v", err, code)
	for _, detail := range status.Convert(err).Details() {
		if found, ok := detail.(Detail); ok {
			return found
		}
	}
	var wanted Detail
	check(false, "%v without %T", code, wanted)
	return wanted
}

type loop struct {
	context context.Context
	client  v1.EmulatorClient
	grid    [][]float64
}

func (l loop) observe(id string, batches ...*v1.ObservationBatch) *v1.AddObservationsResponse {
	return must(l.client.AddObservations(l.context, &v1.AddObservationsRequest{Model: model, Observations: batches, RequestId: id}))
}

func (l loop) fit(number int) {
	started := must(l.client.Fit(l.context, &v1.FitRequest{
		Model: model, Options: &v1.FitOptions{Seed: 1}, RequestId: fmt.Sprintf("fit-%d", number)}))
	stream := must(l.client.WatchFit(l.context, &v1.WatchFitRequest{Name: started.Name}))
	var last *v1.Fit
	for {
		event, err := stream.Recv()
		if err == io.EOF {
			break
		}
		last = must(event, err).Fit
	}
	check(last.GetState() == v1.FitState_FIT_STATE_SUCCEEDED, "the fit ended with %v", last)
	check(last.Revision == fmt.Sprintf("%s/revisions/%d", model, number), "the fit made %s", last.Revision)
}

func (l loop) predict(inputs *v1.Matrix) (*v1.Prediction, error) {
	answer, err := l.client.Predict(l.context, &v1.PredictRequest{
		Model: model, Inputs: inputs, Options: &v1.PredictOptions{Quantiles: []float64{0.025, 0.975}}})
	return answer.GetPrediction(), err
}

func (l loop) rmse() float64 {
	bytes, values := must(l.predict(asBytes(l.grid))), must(l.predict(asValues(l.grid)))
	check(bytes.Mean.GetF64Le() != nil && values.Mean.GetValues() != nil, "answers are not encoded as their questions")
	check(bytes.Quantiles.Rows == uint32(len(l.grid)) && bytes.Quantiles.Cols == 2, "shape of quantiles")
	mean, same := numbers(bytes.Mean), numbers(values.Mean)
	for i, variance := range numbers(bytes.Variance) {
		check(variance > 0, "a variance is not positive")
		check(mean[i] == same[i], "the encodings differ in their numbers")
	}
	sum := 0.0
	for i, x := range l.grid {
		sum += (mean[i] - high(x)) * (mean[i] - high(x))
	}
	return math.Sqrt(sum / float64(len(l.grid)))
}

func main() {
	connection := must(grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true))))
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	l := loop{context: ctx, client: v1.NewEmulatorClient(connection), grid: points(201, 60)}

	created := must(l.client.CreateModel(ctx, &v1.CreateModelRequest{
		ModelId: "contract-go",
		Model: &v1.Model{
			InputDimension: 2,
			InputBox:       &v1.InputBox{Lower: []float64{0, 0}, Upper: []float64{1, 1}},
			Fidelities:     []*v1.Fidelity{{Name: "low", Cost: proto.Float64(1)}, {Name: "high", Cost: proto.Float64(10)}},
		},
		RequestId: "create-go",
	}))
	check(created.Name == model, "created %s", created.Name)
	_, err := l.predict(asBytes(l.grid))
	expect[*errdetails.PreconditionFailure](codes.FailedPrecondition, err)

	cheap, expensive := points(1, 30), points(101, 6)
	batches := []*v1.ObservationBatch{
		{Level: proto.Uint32(0), Inputs: asBytes(cheap), Outputs: asBytes(outputs(low, cheap))},
		{Level: proto.Uint32(1), Inputs: asValues(expensive), Outputs: asValues(outputs(high, expensive))},
	}
	added := l.observe("observe-go", batches...)
	check(fmt.Sprint(added.ObservationCounts) == "[30 6]", "counts %v", added.ObservationCounts)
	check(proto.Equal(l.observe("observe-go", batches...), added), "the same request id gave another answer")

	l.fit(1)
	before := l.rmse()
	chosen := must(l.client.SampleDPP(ctx, &v1.SampleDPPRequest{
		Model: model, K: 3, Source: &v1.SampleDPPRequest_CandidateCount{CandidateCount: 128}, Seed: 1,
		QualityMode: v1.QualityMode_QUALITY_MODE_NONE}))
	check(chosen.Inputs.Rows == 3 && chosen.Inputs.Cols == 2 && len(chosen.Indices) == 3, "shape of the design")
	flat := numbers(chosen.Inputs)
	proposed := [][]float64{flat[0:2], flat[2:4], flat[4:6]}
	l.observe("observe-again-go", &v1.ObservationBatch{
		Level: proto.Uint32(1), Inputs: asBytes(proposed), Outputs: asBytes(outputs(high, proposed))})
	l.fit(2)
	after := l.rmse()
	check(before < 0.5 && after < 0.5, "RMSE %f, then %f", before, after)

	_, err = l.predict(asBytes([][]float64{{1, 2, 3}}))
	field := expect[*errdetails.BadRequest](codes.InvalidArgument, err).FieldViolations[0].Field
	check(strings.HasPrefix(field, "inputs"), "the violation is of %s", field)
	_, err = l.client.GetModel(ctx, &v1.GetModelRequest{Name: "models/nowhere"})
	resource := expect[*errdetails.ResourceInfo](codes.NotFound, err).ResourceName
	check(resource == "models/nowhere", "the resource is %s", resource)

	must(l.client.DeleteModel(ctx, &v1.DeleteModelRequest{Name: model}))
	fmt.Printf("contract: go: RMSE %.3f with 6 expensive runs, %.3f with the 3 proposed ones\n", before, after)
}
